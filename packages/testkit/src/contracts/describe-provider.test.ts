import { describe, expect, it } from 'vitest'
import type { RecordedResponse } from '../recordings/recording.js'
import { describeProvider } from './describe-provider.js'
import type { ProviderFixtures } from './provider-rig.js'
import { CONTRACT_KEY } from './provider-rig.js'
import { providerRows } from './provider-rows.js'
import type { ToyAnswer, ToyFault } from './testing/toy-provider.js'
import { toyProvider } from './testing/toy-provider.js'

const whole = (answer: ToyAnswer, status = 200, headers = {}): RecordedResponse => ({ status, headers, body: answer })
const stream = (...events: unknown[]): RecordedResponse => ({
  status: 200,
  headers: {},
  bodyText: events.map((event) => `${JSON.stringify(event)}\n`).join(''),
})

const text: ToyAnswer = { text: 'Hello there.', tokens: [9, 3] }
const calls: ToyAnswer = {
  calls: [
    { id: 'a', name: 'first', args: '{"value":"1"}' },
    { id: 'b', name: 'second', args: '{}' },
  ],
}

const FIXTURES: ProviderFixtures = {
  text: {
    whole: whole(text),
    stream: stream({ t: 'Hello ' }, { t: 'there.' }, { end: text }),
    text: 'Hello there.',
    usage: { input: 9, output: 3 },
  },
  calls: {
    whole: whole(calls),
    stream: stream({ end: calls }),
    calls: [
      { name: 'first', args: { value: '1' } },
      { name: 'second', args: {} },
    ],
  },
  broken: { stream: stream({ t: 'H' }, { t: 'el' }), text: 'Hel' },
  errors: {
    unauthorized: { status: 401, headers: {}, bodyText: `no: ${CONTRACT_KEY}` },
    rateLimited: { status: 429, headers: { 'retry-after': '2' }, bodyText: 'slow', retryAfterMs: 2000 },
    overloaded: { status: 503, headers: {}, bodyText: 'busy' },
  },
  withoutUsage: whole({ text: 'x' }),
  repeatedIds: whole({
    calls: [
      { id: 'a', name: 'first', args: '{}' },
      { id: 'a', name: 'first', args: '{}' },
      { name: 'first', args: '{}' },
    ],
  }),
  reasoning: { whole: whole({ marker: 'M-A-R-K', text: 'So.' }), marker: 'M-A-R-K' },
}

describeProvider('a toy', toyProvider(), FIXTURES)

/** The rows that fail for an adapter with one fault. */
async function failing(fault: ToyFault): Promise<readonly string[]> {
  const failed: string[] = []
  for (const row of providerRows(toyProvider(fault), FIXTURES)) {
    try {
      await row.run()
    } catch {
      failed.push(row.title)
    }
  }
  return failed
}

describe('the provider contract', () => {
  it.each<[ToyFault, string]>([
    ['two replies', 'exactly one reply'],
    ['changes the request', 'its request is left as it was'],
    ['drops a call', 'several calls of one reply'],
    ['no cap', 'explicit output cap'],
    ['measures short', 'bound of input tokens'],
    ['usage as zero', 'CASE-12: usage that is not reported'],
    ['ids as given', 'CASE-16: ids that a provider leaves out'],
    ['marker to everybody', 'reasoning goes back'],
    ['no marker', 'reasoning goes back'],
    ['loses failed results', 'the results of a round go back'],
    ['asks again', 'asked for once'],
    ['one code for all', 'is PROVIDER_AUTH'],
    ['deaf', 'abort ends a call that waits'],
    ['shows the key', 'no error shows the key'],
    ['broken is whole', 'ends before its end event'],
    ['late parts', 'nothing comes after it'],
    ['keeps its listener', 'leave no listener on the signal'],
    ['one key for all', 'CASE-27'],
  ])('fails an adapter with the fault "%s" in the row "... %s ..."', async (fault, row) => {
    expect((await failing(fault)).filter((title) => title.includes(row))).not.toEqual([])
  })

  it('skips by name the rows for which there is no fixture', () => {
    const { withoutUsage: _usage, repeatedIds: _ids, reasoning: _reasoning, ...least } = FIXTURES
    expect(providerRows(toyProvider(), least).filter((row) => row.skip === true)).toHaveLength(3)
  })

  it('holds an adapter to every recording of a folder, and fails on a folder without any', async () => {
    const rows = providerRows(toyProvider(), { ...FIXTURES, recordings: '/no/such/folder' })
    await expect(async () => rows.at(-1)?.run()).rejects.toThrow('there are none')
  })
})
