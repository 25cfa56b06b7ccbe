import { describeHookPlugin } from '@sluice/testkit/contracts'
import {
  allowTools,
  approval,
  callsPerRun,
  checkLinks,
  denyTools,
  killSwitch,
  noExfiltration,
  requireContext,
  valueRule,
} from './index.js'

const LABELS = [{ kind: 'tool' as const, source: 'web_fetch' }]
/** Other packages of the workspace are read from their sources, as in all tests. */
const at = (file: string) => ({ module: new URL(file, import.meta.url), conditions: ['sluice-source'] })

describeHookPlugin('requireContext', () => requireContext(['clerk']), {
  ...at('./rules/require-context.ts'),
  badOptions: { 'no keys': () => requireContext([]) },
  passing: { runContext: { clerk: 'petra.k' } },
  stopping: { point: 'beforeToolCall', code: 'CONTEXT_REQUIRED' },
})

describeHookPlugin('allowTools', () => allowTools(['write_note']), {
  ...at('./rules/tool-lists.ts'),
  badOptions: { 'a list of numbers': () => allowTools([1] as never) },
  stopping: { point: 'beforeToolCall', code: 'TOOL_NOT_ALLOWED', facts: { beforeToolCall: { toolCode: 'send' } } },
})

describeHookPlugin('denyTools', () => denyTools(['send']), {
  ...at('./rules/tool-lists.ts'),
  badOptions: { 'an empty list': () => denyTools([]) },
  stopping: { point: 'beforeToolCall', code: 'TOOL_DENIED', facts: { beforeToolCall: { toolCode: 'send' } } },
})

for (const unit of ['run', 'session'] as const) {
  describeHookPlugin(`callsPerRun, per ${unit}`, () => callsPerRun({ tool: ['write_note'], max: 1, unit }), {
    ...at('./rules/calls-per-run.ts'),
    badOptions: { 'half a call': () => callsPerRun({ tool: 'a', max: 0.5, unit }) },
    stopping: { point: 'beforeToolCall', code: 'CALLS_EXCEEDED', earlier: [{ effectId: 'another call' }] },
  })
}

describeHookPlugin('valueRule', () => valueRule('write_note', ({ text }) => (text === 'no' ? 'No.' : undefined)), {
  ...at('./rules/value-rule.ts'),
  badOptions: { 'no check': () => valueRule('write_note', undefined as never) },
  stopping: { point: 'inspectToolInput', code: 'VALUE_RULE', facts: { inspectToolInput: { args: { text: 'no' } } } },
})

describeHookPlugin('killSwitch', () => killSwitch(), {
  ...at('./kill-switch/kill-switch.ts'),
  badOptions: { 'a time of 0': () => killSwitch({ timeoutMs: 0 }) },
  stopping: {
    point: 'beforeToolCall',
    code: 'KILL_SWITCH_ON',
    prepare: async (store) => {
      const row = { on: true, who: 'ops', reason: 'looping', at: 0, expiresAt: null }
      await store.documents('plugin:hooks-policy/kill-switch').put(['row', 'tool', 'write_note'], row)
    },
  },
})

describeHookPlugin('approval', () => approval({ tools: ['pay'] }), {
  ...at('./approval/approval.ts'),
  badOptions: {
    'a short key': () => approval({ tools: ['pay'], key: 'short' }),
    'a time of 0': () => approval({ tools: ['pay'], expiresIn: 0 }),
  },
  stopping: {
    point: 'inspectToolInput',
    code: 'APPROVAL_REQUIRED',
    answer: 'paused',
    facts: { inspectToolInput: { toolCode: 'pay', args: { amount: 5 } } },
  },
})

describeHookPlugin("noExfiltration with on: 'ask'", () => noExfiltration({ on: 'ask' }), {
  ...at('./exfiltration/no-exfiltration.ts'),
  badOptions: { 'no time': () => noExfiltration({ on: 'ask', expiresIn: 0 }) },
  stopping: {
    point: 'inspectToolInput',
    code: 'EXFILTRATION',
    answer: 'paused',
    facts: {
      inspectToolInput: {
        labels: LABELS,
        tool: { effect: 'send', untrusted: false, cost: null, definitionDigest: 'd', agent: null },
      },
    },
  },
})

describeHookPlugin('noExfiltration', () => noExfiltration(), {
  ...at('./exfiltration/no-exfiltration.ts'),
  badOptions: { 'no effects': () => noExfiltration({ effects: [] }) },
  stopping: {
    point: 'beforeToolCall',
    code: 'EXFILTRATION',
    facts: {
      beforeToolCall: {
        labels: LABELS,
        tool: { effect: 'send', untrusted: false, cost: null, definitionDigest: 'd', agent: null },
      },
    },
  },
})

describeHookPlugin('checkLinks', () => checkLinks({ hosts: ['example.com'], on: 'veto' }), {
  ...at('./exfiltration/check-links.ts'),
  badOptions: { 'a host with a scheme': () => checkLinks({ hosts: ['https://example.com'] }) },
  stopping: {
    point: 'inspectReply',
    code: 'LINK_NOT_ALLOWED',
    facts: { inspectReply: { text: 'See https://evil.example.' } },
  },
})

describeHookPlugin('checkLinks that refuses', () => checkLinks({ hosts: [] }), {
  ...at('./exfiltration/check-links.ts'),
  stopping: {
    point: 'inspectReply',
    code: 'LINK_NOT_ALLOWED',
    answer: 'refused',
    facts: { inspectReply: { text: 'See www.evil.example.' } },
  },
})
