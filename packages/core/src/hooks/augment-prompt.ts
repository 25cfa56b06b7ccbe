import { isThenable } from '../internal/json.js'
import { AskingState } from './asking-context.js'
import { StopSource } from '../internal/stop-source.js'
import type { PromptContext } from './hook-contexts.js'
import type { CompiledTap } from './hook-set.js'
import { noteObserverError } from './observe.js'
import type { ObserveControl } from './observe.js'

const LATE: unique symbol = Symbol('late')

/**
 * The chain of `augmentSystemPrompt`: taps one after another, each with the prompt of the last and a deadline of its own.
 * A tap that throws, is late or gives anything but text or `undefined` changes nothing; the chain can never fail a run.
 */
export async function augmentPrompt(
  control: ObserveControl,
  taps: readonly CompiledTap[],
  prompt: string | undefined,
  context: Omit<PromptContext, 'signal'>,
  stops: StopSource = new StopSource(),
): Promise<string | undefined> {
  let current = prompt
  for (const tap of taps) {
    if (stops.stopped) break
    const state = new AskingState()
    const before = control.clock.monotonic()
    try {
      const returned = call(tap, current, new PromptTapContext(context, state))
      const next = isThenable(returned) ? await withDeadline(control, tap, returned, state, stops) : returned
      // what comes late is dropped, also where the tap kept the thread beyond its deadline
      if (next === LATE || control.clock.monotonic() - before > tap.timeoutMs) continue
      // a shadowed plugin is asked, and changes nothing
      if (typeof next === 'string') current = tap.shadow ? current : next
      else if (next !== undefined)
        throw new TypeError(
          `augmentSystemPrompt of "${tap.plugin}" returned ${typeof next}; it takes a string or nothing`,
        )
    } catch (error) {
      noteObserverError(control, tap.plugin, tap.point, error)
    }
  }
  return current
}

/** What one tap is told. The signal is made when it is first read; it fires at the deadline of the tap. */
class PromptTapContext implements PromptContext {
  readonly executionId: string | null
  readonly rootExecutionId: string
  readonly agentId: string | null
  readonly agentCode: string | null
  readonly createdBy: string | null
  readonly sessionId: string | null
  readonly appId: string | null
  readonly tenant: string | null
  readonly depth: number
  readonly #state: AskingState

  constructor(facts: Omit<PromptContext, 'signal'>, state: AskingState) {
    this.executionId = facts.executionId
    this.rootExecutionId = facts.rootExecutionId
    this.agentId = facts.agentId
    this.agentCode = facts.agentCode
    this.createdBy = facts.createdBy
    this.sessionId = facts.sessionId
    this.appId = facts.appId
    this.tenant = facts.tenant
    this.depth = facts.depth
    this.#state = state
    Object.freeze(this)
  }

  get signal(): AbortSignal {
    return this.#state.signal
  }
}

function call(tap: CompiledTap, prompt: string | undefined, context: PromptContext): unknown {
  if (tap.kind !== 'tapAsync')
    return (tap.fn as (prompt: string | undefined, context: PromptContext) => unknown)(prompt, context)
  return new Promise((resolve, reject) => {
    const callback = (error?: unknown, next?: unknown): void => {
      if (error !== null && error !== undefined) reject(error as Error)
      else resolve(next)
    }
    const returned = (
      tap.fn as (
        prompt: string | undefined,
        context: PromptContext,
        callback: (error?: unknown, next?: unknown) => void,
      ) => unknown
    )(prompt, context, callback)
    if (isThenable(returned)) returned.then(undefined, reject)
  })
}

/** What a tap promised, or `LATE` where its deadline or the stop of the run came first. */
function withDeadline(
  control: ObserveControl,
  tap: CompiledTap,
  returned: PromiseLike<unknown>,
  state: AskingState,
  stops: StopSource,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      control.deadlines.remove(deadline)
      stops.unlisten(onStop)
    }
    const onStop = (reason: unknown): void => {
      end()
      state.abort(reason)
      resolve(LATE)
    }
    const deadline = control.deadlines.add(tap.timeoutMs, control.clock.monotonic(), () => {
      control.health.late += 1
      end()
      state.abort(undefined)
      resolve(LATE)
    })
    Promise.resolve(returned).then(
      (value) => {
        end()
        resolve(value)
      },
      (error: unknown) => {
        end()
        reject(error as Error)
      },
    )
    stops.listen(onStop)
  })
}
