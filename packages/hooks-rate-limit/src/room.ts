import type { DocumentKey, Documents, JsonValue } from '@sluice/core'
import { SluiceError, Veto } from '@sluice/core'

/** Why a room did not admit. */
export interface RoomRefusal {
  /** Name of the limit. */
  readonly limit: string
  /** Milliseconds after which it may be asked again, within its window; `undefined`: it will never fit. */
  readonly retryAfterMs: number | undefined
  /** The owner allows waiting. */
  readonly wait: boolean
  /** What is counted, as a sentence has it: `60 model calls per 60000 ms`. */
  readonly bound: string
  readonly max: number | null
  readonly used: number | null
  readonly asked: number
}

/** What a room says at one moment. */
export interface Entered {
  readonly refusal?: RoomRefusal | undefined
  /** The document where everybody admitted. */
  readonly taken: JsonValue | undefined
  /** The document where somebody refused: as it was, or the same with its clock put right. */
  readonly untouched: JsonValue | undefined
}

/** One document that takes part in a step. */
export interface Room {
  readonly key: DocumentKey
  /** Pure: what the document is to be, at the store's time `at`. May be called again. */
  enter(current: JsonValue | undefined, at: number): Entered
}

/**
 * Goes through all rooms in one `transact`: either all of them admitted, and each has taken its part, or at least one refused
 * and none has. Returns the refusals.
 *
 * @throws Veto RATE_LIMIT_UNAVAILABLE where the store did not answer: nobody passes on a guess
 */
export async function passThrough(
  documents: Documents,
  rooms: readonly Room[],
  signal: AbortSignal,
): Promise<readonly RoomRefusal[]> {
  if (rooms.length === 0) return []
  let entering = false
  try {
    return await documents.transact(
      rooms.map(({ key }) => key),
      (current, at) => {
        entering = true
        const entered = rooms.map((room, index) => room.enter(current[index], at))
        entering = false
        const refusals = entered.flatMap(({ refusal }) => refusal ?? [])
        const admitted = refusals.length === 0
        return { next: entered.map(({ taken, untouched }) => (admitted ? taken : untouched)), result: refusals }
      },
      { signal },
    )
  } catch (cause) {
    const code = SluiceError.isInstance(cause) ? cause.code : null
    // a fault of ours is no fault of the store
    if (entering && code === null) throw cause
    throw new Veto(
      'RATE_LIMIT_UNAVAILABLE',
      `The rate limits could not be read or written (${code ?? 'the store failed'}), so nothing is admitted. See to the store and try again.`,
      { storeCode: code },
      { by: { plugin: 'hooks-rate-limit', point: '' }, cause },
    )
  }
}
