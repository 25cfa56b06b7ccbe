import type { Act, Give } from './acts.js'
import { answerRow } from './acts.js'
import { TIMES } from './composition.js'
import type { Answer, Tap } from './oracle-taps.js'
import { TAKES, WORDS } from './oracle-taps.js'

/** What an act does to the run that asks, beside its answer. */
interface ActWorld {
  /** Time goes by and timers fire. */
  wait(ms: number): void
  /** Time goes by and no timer fires: the thread was kept. */
  block(ms: number): void
  abort(): void
  /** Makes a call of the runtime from inside the gate. True where it failed without ending the run. */
  call(): boolean
  readonly stopped: boolean
}

const PASS: Give = { give: 'pass' }

/** What one act of a tap amounts to; `undefined`: a pass. */
export function judgeAct(act: Act, tap: Tap, world: ActWorld): Answer | undefined {
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
    world.wait(Math.min(ms, tap.timeoutMs))
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
      world.block(act.over ? tap.timeoutMs + TIMES.blockMs : TIMES.blockMs)
      return act.over ? answer('timed_out') : said(act.say, act.promise)
    case 'abort':
      if (act.how === 'timer') within(act.ms, PASS)
      world.abort()
      return answer('aborted')
    case 'meddle':
      return act.loud ? answer('failed') : undefined
    case 'call':
      if (world.call() && !act.catches) return answer('failed')
      return world.stopped ? answer('aborted') : undefined
    case 'thenable':
      if (act.shape === 'passes' || act.shape === 'pass-then-reject') return undefined
      return act.shape === 'never' ? within(Number.POSITIVE_INFINITY, PASS) : answer('failed')
    case 'callback':
      if (act.shape === 'veto-after-pass') return undefined
      return act.shape === 'then-throw' || act.shape === 'with-value' ? answer('failed') : answer('vetoed', 'NO')
  }
}
