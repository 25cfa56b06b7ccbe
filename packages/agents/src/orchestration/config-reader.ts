import { FaultList, shown } from '../workflow/fault-list.js'

const AGENT_CODE = /^[A-Za-z0-9_.-]{1,128}$/

/** A JSON object out of a configuration. */
export type Given = Readonly<Record<string, unknown>>

/** Reads an `orchestration_config`: everything that is wrong with it at once, each fault with its place. */
export class ConfigReader {
  readonly faults = new FaultList()

  /** The value as an object; one without keys where it is none, which is a fault. */
  object(place: string, value: unknown, keys: readonly string[]): Given {
    if (!isObject(value)) {
      this.faults.add(place, 'must be an object')
      return {}
    }
    this.faults.addUnknown(place, value, keys)
    return value
  }

  /** The pattern that a configuration is for has to be that of the agent. */
  pattern(config: Given, type: string): void {
    if (config.pattern_type !== type)
      this.faults.add('pattern_type', `must be ${shown(type)}, which is the type of the agent`)
  }

  /** The code of an agent or a prompt profile. */
  code(place: string, value: unknown, what = 'an agent'): string {
    if (typeof value === 'string' && AGENT_CODE.test(value)) return value
    this.faults.add(place, `must be the code of ${what}`)
    return ''
  }

  /** A list with at least one item, unless `mayBeEmpty`. */
  list(place: string, value: unknown, what: string, mayBeEmpty = false): readonly unknown[] {
    if (Array.isArray(value) && (mayBeEmpty || value.length > 0) && value.length <= MOST) return value
    this.faults.add(place, `must be a list of ${mayBeEmpty ? 'up to' : '1 to'} ${MOST} ${what}`)
    return []
  }

  /** A whole number of at least `least`; `undefined` where it is absent. */
  count(place: string, value: unknown, least: number): number | undefined {
    if (isAbsent(value)) return undefined
    if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= MOST_COUNTED)
      return value as number
    this.faults.add(place, `must be a whole number from ${least} to ${MOST_COUNTED}`)
    return undefined
  }

  /** One of a few words; `undefined` where it is absent. */
  oneOf<Value extends string>(place: string, value: unknown, values: readonly Value[]): Value | undefined {
    if (isAbsent(value) || values.includes(value as Value)) return (value ?? undefined) as Value | undefined
    this.faults.add(place, `must be one of ${values.join(', ')}`)
    return undefined
  }

  text(place: string, value: unknown, why: string): string {
    if (typeof value === 'string' && value.trim() !== '') return value
    this.faults.add(place, `must be a text: ${why}`)
    return ''
  }

  /** A code that stands twice in one list. */
  once(place: string, codes: readonly string[]): void {
    const seen = new Set<string>()
    for (const code of codes) {
      if (code !== '' && seen.has(code)) this.faults.add(place, `names ${shown(code)} twice`)
      seen.add(code)
    }
  }
}

/** Most agents that one agent is made of. */
const MOST = 100
const MOST_COUNTED = 1_000

/** `undefined`, or `null` as stored JSON has it. */
export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null
}

export function isObject(value: unknown): value is Given {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
