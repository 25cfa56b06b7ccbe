import type { PausedRun } from '@sluice/core'
import { createMemoryStore } from '@sluice/core'
import type { AuditEntry } from '@sluice/hooks-audit'
import { verifyEntries } from '@sluice/hooks-audit'
import { fakeClock, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { ALL, guardedDesk, SPACE } from './guarded-desk.js'
import type { Failure } from './watched-store.js'
import { watchedStore } from './watched-store.js'

/** Which calls fail, and how: by number, from 0, since the runtime is there. */
type Plan = (place: number) => Failure | undefined

/** A run with two requests and a tool call that a human approves; every call of the store and every effect is in `line`. */
async function play(plan: Plan) {
  const clock = fakeClock()
  const base = createMemoryStore({ clock })
  const line: string[] = []
  let counting = false
  let place = 0
  const store = watchedStore(base, (call) => {
    if (!counting) return undefined
    const failure = plan(place++)
    line.push(failure === undefined ? call : `FAILED ${call}`)
    return failure
  })
  const asked = (then: ReturnType<typeof reply>) => () => {
    line.push('EFFECT request')
    return then
  }
  const desk = await guardedDesk([asked(reply.toolCall('write_note', { text: 'a' })), asked(reply('Done.'))], {
    approve: 'write_note',
    clock,
    store,
    onHandler: () => void line.push('EFFECT write_note'),
  })
  counting = true
  let ended = await desk.run()
  if (ended.run?.status === 'paused') {
    const { executionId, pending } = ended.run as PausedRun
    const answer = { effectId: pending[0]?.effectId ?? '', decision: 'approve', by: 'boss', ...ALL } as const
    ended = await desk.end(desk.runtime.decide(executionId, answer))
    if (ended.code === undefined) ended = await desk.end(desk.runtime.resume(executionId, ALL))
  }
  counting = false
  const entries = (await base.log(SPACE.audit).read('audit', { limit: 1_000 })).map(
    ({ value }) => value as unknown as AuditEntry,
  )
  const held = (await base.documents(SPACE.budget).list(['effect'], { limit: 1_000 })).items.map(
    ({ key }) => key[1] ?? '',
  )
  return { ...desk, ended, line, entries, held, calls: place }
}

const EFFECTS = ['EFFECT request', 'EFFECT write_note', 'EFFECT request']
const effectsOf = (line: readonly string[]) => line.filter((entry) => entry.startsWith('EFFECT'))

/** Effects, each once, of which the log has such an entry. */
const idsOf = (entries: readonly AuditEntry[], event: string): readonly string[] => [
  ...new Set(entries.filter((entry) => entry.event === event).map(({ effectId }) => effectId ?? '')),
]

describe('all guards together: a store that fails lets no effect through', () => {
  it('goes down at any call and stays down: nothing happens from there on', async () => {
    const whole = await play(() => undefined)
    expect([whole.ended.run?.status, effectsOf(whole.line)]).toEqual(['completed', EFFECTS])
    expect(whole.calls).toBeGreaterThan(30)
    for (let from = 0; from < whole.calls; from++) {
      for (const failure of ['error', 'lost'] as const) {
        const { line } = await play((place) => (place >= from ? failure : undefined))
        const down = line.findIndex((entry) => entry.startsWith('FAILED'))
        expect(effectsOf(line.slice(down)), `${failure} from ${line[down]} (${from})`).toEqual([])
      }
    }
  })

  it('fails at any one call: what happened has its intent in the log and its hold in the budget, and the log verifies', async () => {
    const { calls } = await play(() => undefined)
    for (let at = 0; at < calls; at++) {
      for (const failure of ['error', 'unknown', 'lost'] as const) {
        const { line, entries, held, happened } = await play((place) => (place === at ? failure : undefined))
        const where = `${failure} at ${line.find((entry) => entry.startsWith('FAILED'))} (${at})`
        const requests = line.filter((entry) => entry === 'EFFECT request').length
        expect(idsOf(entries, 'model.intent').length, where).toBeGreaterThanOrEqual(requests)
        expect(held.filter((id) => idsOf(entries, 'model.intent').includes(id)).length, where).toBeGreaterThanOrEqual(
          requests,
        )
        for (const effectId of happened) {
          expect(idsOf(entries, 'tool.intent'), where).toContain(effectId)
          expect(held, where).toContain(effectId)
        }
        expect(verifyEntries(entries).faults, where).toEqual([])
      }
    }
  })

  it('fails at the one call of a gate before an effect: that effect does not happen', async () => {
    const whole = await play(() => undefined)
    let place = 0
    let stopped = 0
    for (const [index, entry] of whole.line.entries()) {
      if (entry.startsWith('EFFECT')) continue
      const at = place++
      const gate = [SPACE.audit, SPACE.budget, SPACE.rates].some((space) => entry.startsWith(space))
      const before = effectsOf(whole.line.slice(0, index)).length
      const opens = gateOpens(whole.line.slice(index))
      if (!gate || !opens) continue
      for (const failure of ['error', 'unknown', 'lost'] as const) {
        const { line, ended } = await play((one) => (one === at ? failure : undefined))
        expect([effectsOf(line).length, ended.code === undefined], `${failure} at ${entry} (${at})`).toEqual([
          before,
          false,
        ])
        stopped++
      }
    }
    expect(stopped).toBeGreaterThan(20)
  })
})

/** True where, from here on, the run is on its way to an effect and closes none on it. */
function gateOpens(rest: readonly string[]): boolean {
  const effect = rest.findIndex((entry) => entry.startsWith('EFFECT'))
  const switchRead = rest.findIndex((entry) => entry.startsWith(SPACE.killSwitch))
  return effect !== -1 && (switchRead === -1 || switchRead > effect)
}
