import type { JsonValue, RunState } from '@sluice/core'

/** Which attempt an entry is about. */
export interface AttemptId {
  readonly effectId: string
  readonly attempt: number
}

/** True where the intent of this attempt has been written and its outcome has not. */
export function isMarked(state: RunState | undefined, attempt: AttemptId): boolean {
  return state !== undefined && marksOf(state.get()).includes(markOf(attempt))
}

/** Notes that the intent has been written; asked again, the gate writes no second one. */
export function mark(state: RunState | undefined, attempt: AttemptId): void {
  state?.update((current) => {
    const marks = marksOf(current)
    const own = markOf(attempt)
    return { intents: marks.includes(own) ? marks : [...marks, own] }
  })
}

/** Forgets the attempt: a closed one is never asked again. */
export function unmark(state: RunState | undefined, attempt: AttemptId): void {
  if (!isMarked(state, attempt)) return
  state?.update((current) => ({ intents: marksOf(current).filter((own) => own !== markOf(attempt)) }))
}

function markOf({ effectId, attempt }: AttemptId): string {
  return `${effectId}#${attempt}`
}

function marksOf(state: JsonValue | undefined): readonly string[] {
  if (state === undefined || state === null || typeof state !== 'object' || !('intents' in state)) return []
  return state.intents as readonly string[]
}
