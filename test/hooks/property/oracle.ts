import type { Account, ReceiptAccount } from './account.js'
import type { Act, Give, Via } from './acts.js'
import { answerRow } from './acts.js'
import type { CallShape, Composition, Point } from './composition.js'
import { TIMES } from './composition.js'

/**
 * What a run has to come to, told from the text of the contract: an independent model that shares no code with the
 * dispatcher. It goes through the run in order, with a time of its own, and asks each tap what its act amounts to.
 */
export function predict(composition: Composition): Account {
  return new Oracle(composition).account()
}

type AskPoint = Point | 'authorize'

interface Tap {
  readonly id: string
  readonly plugin: string
  readonly point: AskPoint
  readonly via: Via
  readonly stage: number
  readonly timeoutMs: number
  readonly acts: readonly Act[]
  readonly shadow: boolean
}

/** What each point takes besides a veto. */
const TAKES: Readonly<Record<AskPoint, readonly string[]>> = {
  beforeExecution: ['Wait'],
  beforeModelCall: ['Wait', 'Land'],
  whileInFlight: [],
  inspectReply: ['Refusal'],
  beforeToolCall: ['Refusal', 'Wait'],
  inspectToolInput: ['Refusal', 'Wait', 'Pause'],
  authorize: ['Refusal'],
}
const WORDS = { Veto: 'vetoed', Refusal: 'refused', Pause: 'paused', Wait: 'waited', Land: 'landed' } as const

interface Answer {
  readonly word: (typeof WORDS)[keyof typeof WORDS] | 'failed' | 'timed_out' | 'aborted'
  readonly code: string
  readonly plugin: string
  readonly point: string
  readonly waitMs: number
}

interface Effect {
  readonly name: string
  readonly attempt: number
  readonly askings: string[][]
  watched: number
  passedAt: number
  closed: boolean
}

/** The run is over; how, stands in the oracle. */
class Ended extends Error {}
class Paused extends Error {}
/** A call from inside a gate came back to the point of that gate. */
class Reentered extends Error {}

class Oracle {
  readonly #shape: Composition
  readonly #taps: readonly Tap[]
  readonly #drawn = new Map<string, number>()
  readonly #attempts = new Map<string, number>()
  readonly #observersTake: number
  #time = 0
  /** Up to when timers have fired: a gate that keeps the thread moves time, and no timer fires meanwhile. */
  #fired = 0
  #waited = 0
  #landed = false
  #mainReplies = 0
  #stop: { readonly code: string; readonly kind: string } | undefined
  #pending: string[] = []
  readonly #asked: string[] = []
  readonly #started: string[] = []
  readonly #closings: string[] = []
  readonly #stops: string[] = []
  readonly #events: string[] = []
  readonly #toolCalls: string[] = []
  readonly #receipts: Record<string, ReceiptAccount> = {}

  constructor(shape: Composition) {
    this.#shape = shape
    this.#taps = shape.plugins.flatMap((plugin, place) =>
      plugin.gates.map((gate, number) => ({
        ...gate,
        id: `p${place}.${number}`,
        plugin: `${plugin.shadow ? 'shadow:' : ''}p${place}`,
        shadow: plugin.shadow,
      })),
    )
    this.#observersTake = observersTake(shape)
  }

  account(): Account {
    let result: string
    let afterExecution: string[] = []
    const effect = this.#effect('execution')
    const answer = this.#settle(effect, [this.#at('beforeExecution')], [])
    if (answer !== undefined) {
      this.#end(answer)
      this.#file(effect, answer.word === 'aborted' ? 'aborted' : 'stopped', 'no')
      this.#tell(answer)
      result = this.#failed()
    } else {
      try {
        this.#generate('', [], false)
        this.#file(effect, 'ok', 'yes')
        result = 'completed'
        afterExecution = ['completed']
      } catch (thrown) {
        if (thrown instanceof Paused) result = 'paused'
        else if (thrown instanceof Ended) {
          this.#file(effect, this.#stop?.kind === 'aborted' ? 'aborted' : 'stopped', 'yes')
          result = this.#failed()
          afterExecution = ['failed']
        } else throw thrown
      }
    }
    return {
      result,
      pending: result === 'paused' ? this.#pending : [],
      asked: this.#asked,
      started: this.#started,
      // a call inside a gate ends beside the run that a stop in it has ended
      closings: this.#closings.sort(),
      stops: this.#stops,
      afterExecution,
      receipts: this.#receipts,
      counts: countsOf(this.#receipts),
      toolCalls: this.#toolCalls,
      events: this.#shape.stream ? this.#events : undefined,
    }
  }

  #failed(): string {
    return `${this.#stop?.kind} ${this.#stop?.code}`
  }

  #at(point: Point): readonly Tap[] {
    // a stable sort: the order of registration within one stage
    return this.#taps.filter((tap) => tap.point === point).sort((left, right) => left.stage - right.stage)
  }

  // one call of the model and tool loop

  #generate(path: string, inside: readonly string[], side: boolean): void {
    let landing = false
    let refusals = 0
    for (let request = 1; ; request++) {
      // a reply that could not be asked about is not sent for
      if (inside.includes('inspectReply') && this.#at('inspectReply').length > 0) throw new Reentered()
      const effect = this.#effect(`${path}m${request}`)
      const before = this.#settle(effect, [this.#at('beforeModelCall')], inside)
      if (before?.word === 'landed' && !this.#landed) {
        this.#landed = true
        landing = true
        this.#close(effect, 'not_run', 'no')
        continue
      }
      if (before !== undefined) {
        const stop: Answer = before.word === 'landed' ? { ...before, word: 'vetoed', code: 'LANDED_TWICE' } : before
        this.#stopEffect(effect, stop, 'no')
      }
      this.#started.push(side ? 'side' : 'model')
      const first = !side && this.#mainReplies++ === 0
      const calls = first && !landing
      this.#open(effect, side ? TIMES.sideReplyMs : this.#shape.replyMs[first ? 0 : 1], inside)
      const after = this.#settle(effect, [this.#at('inspectReply')], inside)
      if (after?.word === 'refused') {
        this.#close(effect, 'refused', 'yes')
        this.#tell(after)
        // a run that lands has one last request
        if (++refusals === 2 || landing) {
          const stop: Answer = { ...after, word: 'vetoed', code: refusals === 2 ? 'REFUSED_TWICE' : 'LANDING_REFUSED' }
          this.#end(stop)
          this.#tell(stop)
          throw new Ended()
        }
        continue
      }
      if (after !== undefined) this.#stopEffect(effect, after, 'yes')
      this.#close(effect, 'ok', 'yes')
      refusals = 0
      this.#events.push('assistant_text')
      if (!calls) {
        this.#events.push('response_complete')
        return
      }
      this.#round(effect.name)
    }
  }

  /** A request that is open: watched every second until its reply is there. */
  #open(effect: Effect, ms: number, inside: readonly string[]): void {
    const { stop, arrived } = this.#watch(effect, ms, inside)
    if (stop === undefined) return
    if (stop.word !== 'aborted') this.#stopEffect(effect, stop, 'yes')
    if (arrived) this.#close(effect, 'aborted', 'yes')
    else this.#close(effect, this.#shape.honoursSignal ? 'aborted' : 'unknown', 'unknown')
    throw new Ended()
  }

  #watch(effect: Effect, ms: number, inside: readonly string[]): { stop: Answer | undefined; arrived: boolean } {
    const taps = this.#at('whileInFlight')
    const end = this.#time + ms
    for (let next = this.#time + TIMES.watchMs; taps.length > 0 && next < end; next = this.#time + TIMES.watchMs) {
      this.#time = next
      if (inside.includes('whileInFlight')) throw new Reentered()
      const rows: string[] = []
      const stop = this.#askPoint(effect, taps, rows, inside)
      // the receipt keeps the first asking and the last
      if (++effect.watched > 2) effect.askings.pop()
      effect.askings.push(rows)
      if (stop !== undefined) return { stop, arrived: this.#fired >= end }
      if (this.#time >= end) return { stop: undefined, arrived: true }
    }
    this.#time = Math.max(this.#time, end)
    return { stop: undefined, arrived: true }
  }

  // one round of tool calls

  #round(request: string): void {
    const entries = this.#shape.calls.map((shape, place) => ({
      shape,
      name: `t${place + 1}`,
      effect: this.#effect(`${request}.t${place + 1}`),
      authorize: authorizeTap(shape, place),
      state: 'new' as 'new' | 'admitted' | 'refused' | 'paused' | 'ran',
      status: 'not_run',
    }))
    type Entry = (typeof entries)[number]
    const closeRest = (paused: boolean): void => {
      for (const { effect, state } of entries)
        if (!effect.closed && state !== 'new')
          this.#close(effect, state === 'refused' && !paused ? 'refused' : 'not_run', 'no')
    }
    const ask = (entry: Entry): void => {
      const { effect, authorize } = entry
      const lists = [authorize, this.#at('beforeToolCall'), this.#at('inspectToolInput')]
      const answer = this.#settle(effect, lists, [])
      if (answer === undefined) entry.state = 'admitted'
      else if (answer.word === 'refused') {
        entry.state = 'refused'
        entry.status = 'refused'
        this.#tell(answer)
      } else if (answer.word === 'paused') {
        entry.state = 'paused'
        this.#pending.push(effect.name)
        this.#tell(answer)
      } else {
        entry.status = answer.word === 'aborted' ? 'not_run' : 'vetoed'
        this.#end(answer)
        this.#close(effect, answer.word === 'aborted' ? 'aborted' : 'stopped', 'no')
        this.#tell(answer)
        closeRest(false)
        throw new Ended()
      }
    }
    try {
      for (const entry of entries) ask(entry)
      this.#pauseIfAny(entries, closeRest)
      let effectRan = -1
      for (const entry of entries) {
        const { effect, shape } = entry
        if (entry.state === 'admitted') {
          const fresh = effect.passedAt > effectRan && this.#time - effect.passedAt <= TIMES.gateFreshMs
          if (!fresh) ask(entry)
          this.#pauseIfAny(entries, closeRest)
        }
        if (entry.state === 'refused') {
          this.#close(effect, 'refused', 'no')
          continue
        }
        entry.state = 'ran'
        entry.status = 'unknown'
        this.#handle(entry.name, effect, shape, (status) => {
          entry.status = status
        })
        if (shape.effect !== 'read') effectRan = this.#time
      }
    } catch (thrown) {
      // what was not closed with a stop of its own
      if (thrown instanceof Ended) closeRest(false)
      throw thrown
    } finally {
      this.#toolCalls.push(...entries.map(({ name, status }) => `${name} ${status}`))
    }
  }

  #pauseIfAny(entries: readonly { readonly state: string }[], closeRest: (paused: boolean) => void): void {
    if (!entries.some(({ state }) => state === 'paused')) return
    closeRest(true)
    throw new Paused()
  }

  #handle(name: string, effect: Effect, shape: CallShape, status: (word: string) => void): void {
    this.#started.push(name)
    this.#events.push('tool_call')
    const { stop, arrived } = this.#watch(effect, shape.ms, [])
    const gave = shape.ends === 'ok' ? 'ok' : shape.ends === 'refuses' ? 'refused' : undefined
    if (stop !== undefined) {
      if (arrived && gave !== undefined) status(gave)
      if (stop.word !== 'aborted') this.#stopEffect(effect, stop, 'yes')
      if (arrived) this.#close(effect, gave ?? 'aborted', 'yes')
      else this.#close(effect, this.#shape.honoursSignal ? 'aborted' : 'unknown', 'yes')
      throw new Ended()
    }
    if (shape.ends === 'vetoes') {
      status('vetoed')
      const veto: Answer = {
        word: 'vetoed',
        code: 'HANDLER_SAYS_NO',
        plugin: `tool:${name}`,
        point: 'handler',
        waitMs: 0,
      }
      this.#stopEffect(effect, veto, 'yes')
    }
    status(gave ?? 'error')
    this.#close(effect, gave ?? 'error', 'yes')
    this.#events.push('tool_result')
  }

  // gates

  /** Asks all lists until they settle: a wait that the run can afford is waited for, and all are asked again. */
  #settle(effect: Effect, lists: readonly (readonly Tap[])[], inside: readonly string[]): Answer | undefined {
    for (;;) {
      const rows: string[] = []
      if (lists.some((list) => list.length > 0)) effect.askings.push(rows)
      let answer: Answer | undefined
      for (const list of lists) {
        if (answer === undefined) answer = this.#askPoint(effect, list, rows, inside)
        else for (const tap of list) rows.push(`${tap.plugin} ${tap.point} not_asked`)
      }
      if (answer === undefined) {
        effect.passedAt = this.#time
        return undefined
      }
      if (answer.word !== 'waited') return answer
      // every wait costs at least a millisecond of what the run has
      const cost = Math.max(1, answer.waitMs)
      if (this.#waited + cost > this.#shape.maxWaitMs) return answer
      this.#waited += cost
      this.#time += answer.waitMs
    }
  }

  #askPoint(effect: Effect, taps: readonly Tap[], rows: string[], inside: readonly string[]): Answer | undefined {
    let stop: Answer | undefined
    const state = { calls: 0 }
    if (taps[0] !== undefined && inside.includes(taps[0].point)) throw new Reentered()
    for (const tap of taps) {
      if (stop !== undefined) {
        rows.push(`${tap.plugin} ${tap.point} not_asked`)
        continue
      }
      this.#asked.push(`${effect.name} ${tap.point} ${tap.id}`)
      const answer = this.#askTap(effect, tap, state, inside)
      if (answer === undefined) rows.push(`${tap.plugin} ${tap.point} passed`)
      else if (answer.word === 'aborted') rows.push(`${tap.plugin} ${tap.point} aborted`)
      else rows.push(`${tap.plugin} ${tap.point} ${tap.shadow ? 'would_veto' : answer.word} ${answer.code}`)
      if (answer !== undefined && (!tap.shadow || answer.word === 'aborted')) stop = answer
    }
    return stop
  }

  #askTap(effect: Effect, tap: Tap, state: { calls: number }, inside: readonly string[]): Answer | undefined {
    const drawn = this.#drawn.get(tap.id) ?? 0
    this.#drawn.set(tap.id, drawn + 1)
    const act = tap.acts[Math.min(drawn, tap.acts.length - 1)] as Act
    const answer = (word: Answer['word'], code = 'HOOK_FAILED', waitMs = 0): Answer => ({
      word,
      code,
      waitMs,
      plugin: tap.plugin,
      point: tap.point,
    })
    const said = (say: Give, async: boolean): Answer | undefined => {
      if (say.give === 'pass') return undefined
      if (say.give === 'value') return answer('failed')
      if (say.give === 'throw') {
        // to a callback, nothing is no error
        const nothing = say.name === 'undefined' || say.name === 'null'
        return tap.via === 'tapAsync' && async && nothing ? undefined : answer('failed')
      }
      const { kind, sound, code, ms } = answerRow(say.name)
      if (kind === 'Veto') return answer('vetoed', code)
      return sound && TAKES[tap.point].includes(kind) ? answer(WORDS[kind], code, ms) : answer('failed')
    }
    const within = (ms: number, say: Give): Answer | undefined => {
      this.#time += Math.min(ms, tap.timeoutMs)
      this.#fired = this.#time
      return ms > tap.timeoutMs ? answer('timed_out') : said(say, true)
    }
    switch (act.act) {
      case 'settle':
        if (act.how === 'timer') return within(act.ms, act.say)
        return said(act.say, act.how === 'soon')
      case 'hang':
        return within(Number.POSITIVE_INFINITY, PASS)
      case 'late':
        return within(tap.timeoutMs + TIMES.lateByMs, act.say)
      case 'block':
        this.#time += act.over ? tap.timeoutMs + TIMES.blockMs : TIMES.blockMs
        return act.over ? answer('timed_out') : said(act.say, act.promise)
      case 'abort':
        if (act.how === 'timer') within(act.ms, PASS)
        this.#stop = { kind: 'aborted', code: 'RUN_ABORTED' }
        this.#stops.push('run null aborted RUN_ABORTED')
        return answer('aborted')
      case 'meddle':
        return act.loud ? answer('failed') : undefined
      case 'call':
        return this.#callInside(effect, tap, ++state.calls, inside) && !act.catches
          ? answer('failed')
          : this.#aborted(answer)
      case 'thenable':
        if (act.shape === 'passes' || act.shape === 'pass-then-reject') return undefined
        return act.shape === 'never' ? within(Number.POSITIVE_INFINITY, PASS) : answer('failed')
      case 'callback':
        if (act.shape === 'veto-after-pass') return undefined
        return act.shape === 'then-throw' || act.shape === 'with-value' ? answer('failed') : answer('vetoed', 'NO')
    }
  }

  #aborted(answer: (word: 'aborted') => Answer): Answer | undefined {
    return this.#stop === undefined ? undefined : answer('aborted')
  }

  /** A plain call from inside a gate belongs to the run and passes its gates. True where it failed without ending the run. */
  #callInside(effect: Effect, tap: Tap, number: number, inside: readonly string[]): boolean {
    try {
      this.#generate(`${effect.name}/${tap.point}/g${number}/`, [...inside, tap.point], true)
      return false
    } catch (thrown) {
      if (thrown instanceof Reentered) return true
      if (thrown instanceof Ended) return false
      throw thrown
    }
  }

  // what is told and written

  #effect(name: string): Effect {
    const attempt = (this.#attempts.get(name) ?? 0) + 1
    return { name, attempt, askings: [], watched: 0, passedAt: -1, closed: false }
  }

  #stopEffect(effect: Effect, stop: Answer, sent: string): never {
    this.#end(stop)
    this.#close(effect, stop.word === 'aborted' ? 'aborted' : 'stopped', sent)
    this.#tell(stop)
    throw new Ended()
  }

  #end({ word, code }: Answer): void {
    this.#stop ??= word === 'failed' || word === 'timed_out' ? { kind: 'hook', code } : { kind: 'veto', code }
  }

  #tell({ word, code, plugin, point }: Answer): void {
    if (word === 'aborted') return
    this.#stops.push(`${point} ${plugin} ${word === 'waited' ? 'vetoed' : word} ${code}`)
    this.#time += this.#observersTake
  }

  #close(effect: Effect, outcome: string, sent: string): void {
    if (effect.closed) return
    this.#closings.push(`${effect.name}#${effect.attempt} ${outcome} ${sent}`)
    this.#file(effect, outcome, sent)
    this.#time += this.#observersTake
  }

  #file(effect: Effect, outcome: string, sent: string): void {
    effect.closed = true
    this.#attempts.set(effect.name, effect.attempt)
    this.#receipts[`${effect.name}#${effect.attempt}`] = {
      outcome,
      sent,
      askings: effect.askings.filter((rows) => rows.length > 0),
    }
  }
}

const PASS: Give = { give: 'pass' }

function authorizeTap(shape: CallShape, place: number): readonly Tap[] {
  if (shape.authorize.length === 0) return []
  const plugin = `tool:t${place + 1}`
  return [
    {
      id: plugin,
      plugin,
      point: 'authorize',
      via: 'tap',
      stage: 0,
      timeoutMs: TIMES.authorizeTimeoutMs,
      acts: shape.authorize,
      shadow: false,
    },
  ]
}

/** Observers are awaited together, under one deadline. */
function observersTake(shape: Composition): number {
  const ms = shape.plugins.map(({ watching }) =>
    watching === 'hangs' ? Number.POSITIVE_INFINITY : watching === 'slowly' ? TIMES.slowObserverMs : 0,
  )
  return Math.min(TIMES.observerTimeoutMs, Math.max(...ms))
}

function countsOf(receipts: Readonly<Record<string, ReceiptAccount>>): Account['counts'] {
  const rows = Object.values(receipts)
    .flatMap(({ askings }) => askings.flat())
    .filter((line) => !line.endsWith(' not_asked'))
  const passed = rows.filter((line) => line.endsWith(' passed') || line.includes(' would_veto ')).length
  return { effects: Object.keys(receipts).length, asked: rows.length, passed, stopped: rows.length - passed }
}
