import type { RunContext } from '../context/run-context.js'
import { SluiceError } from '../errors/sluice-error.js'

/** Values by name. */
export type PromptParameters = Readonly<Record<string, unknown>>

/** Where placeholders get their values. Names are compared without regard to case (P-11). */
export interface PromptValues {
  /** The value of a placeholder; `undefined` where there is none. */
  get(name: string): unknown
  /** True where the run context replaced another value that the parameters had for this name (P-15). */
  replaced(name: string): boolean
  /** Names that have a value, at most ten: what an error tells of the values without showing one. */
  names(): readonly string[]
}

const NAME = /^[A-Za-z0-9_]+$/

/**
 * The values of a rendering: what the run context binds wins over a parameter of the same name, so that an input which a
 * model chose never replaces a bound value (P-15). Surplus parameters are ignored.
 */
export function promptValues(parameters: PromptParameters | undefined, runContext?: RunContext): PromptValues {
  const given = new Named(parameters)
  const bound = new Named(runContext)
  return {
    get(name) {
      const value = bound.get(name)
      // a bound key is never null
      return value === undefined || value === null ? given.get(name) : value
    },
    replaced(name) {
      const value = bound.get(name)
      if (value === undefined || value === null) return false
      const other = given.get(name)
      return other !== undefined && other !== value
    },
    names: () => [...new Set([...namesOf(runContext), ...namesOf(parameters)])].slice(0, 10),
  }
}

function namesOf(source: PromptParameters | undefined): string[] {
  if (source === undefined) return []
  return Object.keys(source).filter((name) => source[name] !== undefined && source[name] !== null)
}

/** Own keys of an object, found in the spelling that is asked for, else without regard to case. */
class Named {
  readonly #source: PromptParameters | undefined
  #folded: Map<string, string[]> | undefined

  constructor(source: PromptParameters | undefined) {
    this.#source = source
  }

  get(name: string): unknown {
    const source = this.#source
    if (source === undefined) return undefined
    if (Object.hasOwn(source, name)) return source[name]
    this.#folded ??= fold(source)
    const keys = this.#folded.get(name.toLowerCase())
    if (keys === undefined) return undefined
    const value = source[keys[0] as string]
    if (keys.some((key) => source[key] !== value)) throw ambiguous(name, keys)
    return value
  }
}

function fold(source: PromptParameters): Map<string, string[]> {
  const folded = new Map<string, string[]>()
  for (const key of Object.keys(source)) {
    if (!NAME.test(key)) continue
    const keys = folded.get(key.toLowerCase())
    if (keys === undefined) folded.set(key.toLowerCase(), [key])
    else keys.push(key)
  }
  return folded
}

function ambiguous(name: string, keys: readonly string[]): SluiceError {
  const listed = keys
    .slice(0, 5)
    .map((key) => `'${key.slice(0, 80)}'`)
    .join(', ')
  return new SluiceError('INVALID_CONFIG', `Placeholder {${name}} could be any of ${listed}, which differ.`, {
    reason: 'prompt.ambiguous_parameter',
    hint: 'Give one of them, or spell one exactly as the placeholder is.',
  })
}
