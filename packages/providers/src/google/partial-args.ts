import type { Wire } from '../shared/wire-json.js'
import { isWire, wireText } from '../shared/wire-json.js'

/** More items than the arguments of any call have: a place beyond it is no place. */
const MOST_ITEMS = 10_000
const DEEPEST = 100

type Step = string | number
type Holder = Record<string, unknown> | unknown[]

/**
 * Puts the arguments of a call together that arrive value by value, each with the path of its place (`$.trip.days[0]`).
 * Texts come in pieces, which are joined. Keys are data: none of them reaches a prototype.
 */
export class PartialArgs {
  readonly value: Record<string, unknown> = emptyObject()
  /** The place whose text is not at its end. */
  #open: string | undefined

  /** True while a text has more to come. */
  get cutOff(): boolean {
    return this.#open !== undefined
  }

  /** Takes one piece; a piece whose path cannot be read is passed over. */
  add(piece: Wire): void {
    const path = wireText(piece.jsonPath)
    const steps = stepsOf(path)
    const value = valueOf(piece)
    if (steps === undefined || value === undefined) return
    const joins = this.#open === path && typeof value === 'string'
    this.#set(steps, (present) => (joins && typeof present === 'string' ? present + value : value))
    this.#open = piece.willContinue === true ? path : undefined
  }

  #set(steps: readonly Step[], change: (present: unknown) => unknown): void {
    let holder: Holder = this.value
    for (const [index, step] of steps.entries()) {
      const next = steps[index + 1]
      const present = get(holder, step)
      if (next === undefined) {
        put(holder, step, change(present))
        return
      }
      const wanted = typeof next === 'number' ? Array.isArray(present) : isWire(present)
      const inner: Holder = wanted ? (present as Holder) : typeof next === 'number' ? [] : emptyObject()
      if (!wanted && !put(holder, step, inner)) return
      holder = inner
    }
  }
}

function emptyObject(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>
}

function get(holder: Holder, step: Step): unknown {
  return Object.hasOwn(holder, step) ? (holder as Record<Step, unknown>)[step] : undefined
}

/** Sets a place; false where it cannot be one of this holder. A list grows by one item at a time. */
function put(holder: Holder, step: Step, value: unknown): boolean {
  if (Array.isArray(holder) !== (typeof step === 'number')) return false
  if (Array.isArray(holder) && (step as number) > holder.length) return false
  ;(holder as Record<Step, unknown>)[step] = value
  return true
}

function valueOf(piece: Wire): unknown {
  if (typeof piece.stringValue === 'string') return piece.stringValue
  if (typeof piece.numberValue === 'number') return piece.numberValue
  if (typeof piece.boolValue === 'boolean') return piece.boolValue
  return Object.hasOwn(piece, 'nullValue') ? null : undefined
}

const STEP = /\.([^.[\]]+)|\[(\d+)\]|\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]/y

/** The steps of a path as RFC 9535 writes it, names and places only; `undefined` where it says anything else. */
function stepsOf(path: string): readonly Step[] | undefined {
  if (!path.startsWith('$') || path.length > 10_000) return undefined
  const steps: Step[] = []
  for (let at = 1; at < path.length; ) {
    STEP.lastIndex = at
    const match = STEP.exec(path)
    if (match === null || steps.length === DEEPEST) return undefined
    const [whole, name, place, single, double] = match
    if (place === undefined) steps.push(name ?? (single ?? double ?? '').replace(/\\(.)/g, '$1'))
    else if (Number(place) < MOST_ITEMS) steps.push(Number(place))
    else return undefined
    at += whole.length
  }
  return steps.length === 0 || typeof steps[0] === 'number' ? undefined : steps
}
