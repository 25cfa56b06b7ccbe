import { SluiceError } from '../errors/sluice-error.js'
import { isPlainObject } from '../internal/json.js'
import type { JsonObject, JsonValue } from '../internal/json.js'
import type { PluginHost } from './plugin.js'

/**
 * What a counter bounds: `run` is the whole tree, `call` one `generateText`, `session` a conversation over all its turns,
 * `runtime` the life of the runtime that applied the plugin. Each starts anew by itself (B-9).
 */
export type CounterUnit = 'run' | 'call' | 'session' | 'runtime'

/** The part of a context that tells what is counted, and in which unit. */
export interface CountedContext {
  readonly effectId: string
  readonly rootExecutionId: string
  readonly requestId: string | null
  readonly sessionId: string | null
}

/** Counts attempts, each effect once, however often its gates are asked. */
export interface EffectCounter {
  /** Counts this effect in its unit and gives the number of effects counted there, this one included. */
  count(context: CountedContext): Promise<number>
}

/** Effects that a counter of sessions or runtimes remembers, so that one asked again is not counted again. */
const REMEMBERED = 256
const COUNTERS = '#counters'

/**
 * Makes a counter for a gate. `run` and `call` live in `host.run.state`, `session` in `host.storage`, `runtime` in memory of
 * the applied plugin.
 *
 * @throws SCOPE_UNRESOLVED from `count` where the call has no such unit: never a shared bucket
 */
export function effectCounter(
  host: Pick<PluginHost, 'run' | 'storage'>,
  name: string,
  unit: CounterUnit,
): EffectCounter {
  let runtime: Counted = { total: 0, recent: [] }
  return {
    async count(context) {
      switch (unit) {
        case 'run':
          return inRunState(host, name, context.rootExecutionId, context)
        case 'call':
          return inRunState(host, name, unitKey(context.requestId, 'call'), context)
        case 'session':
          return inStorage(host, name, unitKey(context.sessionId, 'session'), context)
        default:
          runtime = next(runtime, context.effectId)
          return runtime.total
      }
    },
  }
}

interface Counted {
  readonly total: number
  readonly recent: readonly string[]
}

function next(counted: Counted, effectId: string): Counted {
  if (counted.recent.includes(effectId)) return counted
  return { total: counted.total + 1, recent: [...counted.recent.slice(1 - REMEMBERED), effectId] }
}

function unitKey(key: string | null, unit: string): string {
  if (key !== null) return key
  throw new SluiceError('SCOPE_UNRESOLVED', `A counter per ${unit} was asked where there is no ${unit}.`, {
    hint: 'Count per run there, or leave such calls out with appliesTo.',
  })
}

function inRunState(host: Pick<PluginHost, 'run'>, name: string, key: string, context: CountedContext): number {
  const { run } = host
  if (run === undefined)
    throw new SluiceError('SCOPE_UNRESOLVED', 'A counter per run was asked outside a run.', {
      hint: 'Ask it in a gate.',
    })
  let total = 0
  run.state.update((current) => {
    const state: JsonObject = isPlainObject(current) ? (current as JsonObject) : {}
    const counters = own(state, COUNTERS)
    const units = own(counters, name)
    const counted = next(read(units[key]), context.effectId)
    total = counted.total
    return { ...state, [COUNTERS]: { ...counters, [name]: { ...units, [key]: counted as unknown as JsonObject } } }
  })
  return total
}

async function inStorage(
  host: Pick<PluginHost, 'storage'>,
  name: string,
  key: string,
  context: CountedContext,
): Promise<number> {
  const written = await host.storage.documents.update(
    [COUNTERS, name, key],
    (current) => next(read(current), context.effectId) as unknown as JsonObject,
  )
  return read(written).total
}

function own(state: JsonObject, key: string): JsonObject {
  const value: JsonValue | undefined = Object.hasOwn(state, key) ? state[key] : undefined
  return isPlainObject(value) ? (value as JsonObject) : {}
}

function read(value: JsonValue | undefined): Counted {
  if (!isPlainObject(value)) return { total: 0, recent: [] }
  const { total, recent } = value as Partial<Counted>
  return {
    total: typeof total === 'number' ? total : 0,
    recent: Array.isArray(recent) ? (recent as readonly string[]) : [],
  }
}
