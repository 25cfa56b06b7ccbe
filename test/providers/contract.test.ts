import { CONTRACT_KEY, describeProvider } from '@sluice/testkit/contracts'
import { WIRED } from './wire/adapters.js'

for (const { protocol, wire, types, make, lacks = [] } of WIRED) {
  const text = 'A text of several words, umlauts (äöü) and 🌊.'
  const calls = [
    { id: 'call_one', name: 'first', args: '{"value":"ü"}' },
    { id: 'call_two', name: 'second', args: '{"value":"two","more":[1,2,{"deep":null}]}' },
  ]
  describeProvider(protocol, make, {
    text: { whole: wire.whole({ text }), stream: wire.stream({ text }), text, usage: { input: 21, output: 5 } },
    calls: {
      whole: wire.whole({ calls }),
      stream: wire.stream({ calls }),
      calls: calls.map(({ name, args }) => ({ name, args: JSON.parse(args) as unknown })),
    },
    broken: { stream: wire.cutOff({ text }), text },
    errors: {
      unauthorized: wire.error(401, `Incorrect API key provided: ${CONTRACT_KEY}.`, types.unauthorized),
      rateLimited: { ...wire.error(429, 'Slow down.', types.rateLimited, { 'retry-after': '7' }), retryAfterMs: 7000 },
      overloaded: wire.error(529, 'Overloaded.', types.overloaded),
    },
    withoutUsage: wire.whole({ text, usage: null }),
    repeatedIds: wire.whole({
      calls: [
        { id: 'same', name: 'first', args: '{}' },
        { id: 'same', name: 'first', args: '{}' },
        { name: 'second', args: '{}' },
      ],
    }),
    ...(lacks.includes('reasoning')
      ? {}
      : {
          reasoning: {
            whole: wire.whole({ reasoning: { text: 'I think.', marker: 'MARKER-OF-REASONING' }, text: 'So it is.' }),
            marker: 'MARKER-OF-REASONING',
          },
        }),
    ...(lacks.includes('keys') ? { requestKeys: false } : {}),
  })
}
