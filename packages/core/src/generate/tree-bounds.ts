import { SluiceError } from '../errors/sluice-error.js'
import type { Deadline } from '../internal/deadlines.js'
import type { Limits } from './settings.js'
import type { TreeSnapshot } from './tree-snapshot.js'
import type { Tree } from './tree.js'

type Counts = Pick<TreeSnapshot, 'waitedMs' | 'elapsedMs' | 'modelCalls' | 'toolCalls'>

/** The bounds of a whole tree, and what it has used of them: calls, waits, time. Meeting one ends the tree. */
export class TreeBounds {
  readonly #tree: Tree
  readonly #startedAt: number
  #elapsedBefore = 0
  #modelCalls = 0
  #toolCalls = 0
  #waitedMs = 0
  #deadline: Deadline | undefined

  constructor(tree: Tree) {
    this.#tree = tree
    this.#startedAt = tree.parts.clock.monotonic()
  }

  /** Counts one request to a provider; throws where it does not fit. */
  countModelCall(): void {
    const { limits, options, usage } = this.#tree
    options.around?.bounds.countModelCall()
    if (this.#modelCalls >= limits.modelCalls) throw this.#met('modelCalls', this.#modelCalls + 1)
    const tokens =
      (usage.inputTokens ?? 0) +
      (usage.cacheReadTokens ?? 0) +
      (usage.cacheWriteTokens ?? 0) +
      (usage.outputTokens ?? 0)
    if (limits.tokens !== null && (limits.tokens === 0 || tokens >= limits.tokens)) throw this.#met('tokens', tokens)
    this.#modelCalls += 1
  }

  /** Counts one tool call that is about to run; throws where it does not fit. */
  countToolCall(): void {
    const { limits, options } = this.#tree
    options.around?.bounds.countToolCall()
    if (this.#toolCalls >= limits.toolCalls) throw this.#met('toolCalls', this.#toolCalls + 1)
    this.#toolCalls += 1
  }

  /** Takes `ms` out of what gates may make the tree wait; false where it does not fit. A wait costs at least 1 ms of it. */
  spendWait(ms: number): boolean {
    const cost = Math.max(1, Math.ceil(ms))
    if (this.#waitedMs + cost > this.#tree.parts.timeouts.maxWaitMs) return false
    this.#waitedMs += cost
    return true
  }

  /** Milliseconds since the tree began, those before its pauses included; the pauses themselves do not count. */
  get elapsedMs(): number {
    return this.#elapsedBefore + (this.#tree.parts.clock.monotonic() - this.#startedAt)
  }

  /** What a pause stores. */
  snapshot(): Counts {
    return {
      waitedMs: this.#waitedMs,
      elapsedMs: this.elapsedMs,
      modelCalls: this.#modelCalls,
      toolCalls: this.#toolCalls,
    }
  }

  restore({ waitedMs, elapsedMs, modelCalls, toolCalls }: Counts): void {
    this.#waitedMs = waitedMs
    this.#elapsedBefore = elapsedMs
    this.#modelCalls = modelCalls
    this.#toolCalls = toolCalls
    this.arm()
  }

  /** Ends the tree when what is left of `durationMs` is over. */
  arm(): void {
    this.disarm()
    const { limits, parts } = this.#tree
    const left = Math.max(1, limits.durationMs - this.#elapsedBefore)
    this.#deadline = parts.deadlines.add(left, parts.clock.monotonic(), () => {
      const error = new SluiceError(
        'TREE_LIMIT',
        `The tree of runs took longer than its bound durationMs (${limits.durationMs}).`,
        {
          hint: 'Shorten the work, or raise limits.durationMs.',
          details: { limit: 'durationMs', bound: limits.durationMs },
        },
      )
      this.#tree.end({ error, kind: 'timeout', status: 'timeout' })
    })
  }

  disarm(): void {
    if (this.#deadline !== undefined) this.#tree.parts.deadlines.remove(this.#deadline)
    this.#deadline = undefined
  }

  #met(limit: keyof Limits, value: number): SluiceError {
    const bound = this.#tree.limits[limit]
    const error = new SluiceError(
      'TREE_LIMIT',
      `The tree of runs met its bound ${limit} (${String(bound)}); ${value} was asked for.`,
      {
        hint: `Look for a loop, or raise limits.${limit}.`,
        details: { limit, bound, asked: value },
      },
    )
    this.#tree.end({ error, kind: 'limit', status: 'failed' })
    return error
  }
}
