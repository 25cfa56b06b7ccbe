import type { CallShape, Composition } from './composition.js'
import { TIMES } from './composition.js'
import type { Effect, OracleBook } from './oracle-book.js'
import { Ended, Paused, stopEffect } from './oracle-ends.js'
import type { OracleGates } from './oracle-gates.js'
import type { Answer } from './oracle-taps.js'
import { authorizeTap } from './oracle-taps.js'

/** One round of tool calls: all are asked, then each that was admitted runs. */
export function playRound(shape: Composition, book: OracleBook, gates: OracleGates, request: string): void {
  const entries = shape.calls.map((call, place) => ({
    call,
    name: `t${place + 1}`,
    effect: book.effect(`${request}.t${place + 1}`),
    authorize: authorizeTap(call, place),
    state: 'new' as 'new' | 'admitted' | 'refused' | 'paused' | 'ran',
    status: 'not_run',
  }))
  type Entry = (typeof entries)[number]
  const closeRest = (paused: boolean): void => {
    for (const { effect, state } of entries)
      if (!effect.closed && state !== 'new')
        book.close(effect, state === 'refused' && !paused ? 'refused' : 'not_run', 'no')
  }
  const ask = (entry: Entry): void => {
    const { effect, authorize } = entry
    const lists = [authorize, gates.at('beforeToolCall'), gates.at('inspectToolInput')]
    const answer = gates.settle(effect, lists, [])
    if (answer === undefined) entry.state = 'admitted'
    else if (answer.word === 'refused') {
      entry.state = 'refused'
      entry.status = 'refused'
      book.tell(answer)
    } else if (answer.word === 'paused') {
      entry.state = 'paused'
      book.pending.push(effect.name)
      book.tell(answer)
    } else {
      entry.status = answer.word === 'aborted' ? 'not_run' : 'vetoed'
      book.end(answer)
      book.close(effect, answer.word === 'aborted' ? 'aborted' : 'stopped', 'no')
      book.tell(answer)
      closeRest(false)
      throw new Ended()
    }
  }
  try {
    for (const entry of entries) ask(entry)
    pauseIfAny(entries, closeRest)
    let effectRan = -1
    for (const entry of entries) {
      const { effect, call } = entry
      if (entry.state === 'admitted') {
        const fresh = effect.passedAt > effectRan && book.time - effect.passedAt <= TIMES.gateFreshMs
        if (!fresh) ask(entry)
        pauseIfAny(entries, closeRest)
      }
      if (entry.state === 'refused') {
        book.close(effect, 'refused', 'no')
        continue
      }
      entry.state = 'ran'
      entry.status = 'unknown'
      handle({ book, gates, honoursSignal: shape.honoursSignal }, entry.name, effect, call, (status) => {
        entry.status = status
      })
      if (call.effect !== 'read') effectRan = book.time
    }
  } catch (thrown) {
    // what was not closed with a stop of its own
    if (thrown instanceof Ended) closeRest(false)
    throw thrown
  } finally {
    book.toolCalls.push(...entries.map(({ name, status }) => `${name} ${status}`))
  }
}

function pauseIfAny(entries: readonly { readonly state: string }[], closeRest: (paused: boolean) => void): void {
  if (!entries.some(({ state }) => state === 'paused')) return
  closeRest(true)
  throw new Paused()
}

interface Room {
  readonly book: OracleBook
  readonly gates: OracleGates
  readonly honoursSignal: boolean
}

function handle(
  { book, gates, honoursSignal }: Room,
  name: string,
  effect: Effect,
  call: CallShape,
  status: (word: string) => void,
): void {
  book.started.push(name)
  book.events.push('tool_call')
  const { stop, arrived } = gates.watch(effect, call.ms, [])
  const gave = call.ends === 'ok' ? 'ok' : call.ends === 'refuses' ? 'refused' : undefined
  if (stop !== undefined) {
    if (arrived && gave !== undefined) status(gave)
    if (stop.word !== 'aborted') stopEffect(book, effect, stop, 'yes')
    if (arrived) book.close(effect, gave ?? 'aborted', 'yes')
    else book.close(effect, honoursSignal ? 'aborted' : 'unknown', 'yes')
    throw new Ended()
  }
  if (call.ends === 'vetoes') {
    status('vetoed')
    const veto: Answer = {
      word: 'vetoed',
      code: 'HANDLER_SAYS_NO',
      plugin: `tool:${name}`,
      point: 'handler',
      waitMs: 0,
    }
    stopEffect(book, effect, veto, 'yes')
  }
  status(gave ?? 'error')
  book.close(effect, gave ?? 'error', 'yes')
  book.events.push('tool_result')
}
