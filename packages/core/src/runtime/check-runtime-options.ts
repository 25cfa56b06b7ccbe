import { Faults } from '../errors/faults.js'
import { DEFAULT_SETTINGS, readLimits, readSettings, readTimeouts } from '../generate/settings.js'
import type { Limits, LoopSettings, Timeouts } from '../generate/settings.js'
import { isPlainObject } from '../internal/json.js'
import type { ModelProvider } from '../providers/model-provider.js'
import { isToolDefinition } from '../tools/define-tool.js'
import type { ToolDefinition } from '../tools/tool-definition.js'
import type { RuntimeOptions } from './create-runtime.js'

const KEYS: readonly string[] = [
  'store',
  'providers',
  'tools',
  'agents',
  'agentTypes',
  'extensions',
  'prompts',
  'plugins',
  'root',
  'engine',
  'resources',
  'serviceUser',
  'logger',
  'clock',
  'ids',
  'environment',
  'limits',
  'timeouts',
  'settings',
]

/** Options of a runtime that have been checked. */
export interface CheckedRuntime {
  readonly limits: Limits
  readonly timeouts: Timeouts
  readonly settings: LoopSettings
  readonly providers: ReadonlyMap<string, ModelProvider>
  readonly tools: ReadonlyMap<string, ToolDefinition>
}

/** All faults of the options at once. @throws INVALID_CONFIG (`reason` `runtime.options`) */
export function checkRuntimeOptions(options: RuntimeOptions): CheckedRuntime {
  const faults = new Faults()
  const given: Readonly<Record<string, unknown>> = isPlainObject(options) ? options : {}
  if (given !== (options as unknown)) faults.add('createRuntime', 'takes one plain object of options')
  for (const key of Object.keys(given))
    if (!KEYS.includes(key)) faults.add(key, `is not known; known are ${KEYS.join(', ')}`)
  const limits = readLimits(given.limits, faults)
  const timeouts = readTimeouts(given.timeouts, faults)
  const settings = readSettings(DEFAULT_SETTINGS, given.settings, faults)
  const providers = named(
    'providers',
    given.providers,
    faults,
    (entry) => (isProvider(entry) ? entry.id : undefined),
    'must be a provider such as openai()',
  ) as Map<string, ModelProvider>
  const tools = named(
    'tools',
    given.tools,
    faults,
    (entry) => (isToolDefinition(entry) ? entry.code : undefined),
    'must be a tool made with defineTool',
  ) as Map<string, ToolDefinition>
  for (const [key, methods] of Object.entries(PARTS))
    if (given[key] !== undefined && !hasMethods(given[key], methods))
      faults.add(
        key,
        given[key] instanceof Promise ? 'is a promise: await it first' : `must have the methods ${methods.join(', ')}`,
      )
  for (const key of ['agents', 'agentTypes', 'extensions', 'prompts'])
    if (given[key] !== undefined && !Array.isArray(given[key])) faults.add(key, 'must be a list')
  for (const [index, type] of (Array.isArray(given.agentTypes) ? given.agentTypes : []).entries())
    if (!hasMethods(type, TYPE_METHODS) || typeof (type as { type?: unknown }).type !== 'string')
      faults.add(`agentTypes.${index}`, `must have a type and the methods ${TYPE_METHODS.join(', ')}`)
  named(
    'extensions',
    Array.isArray(given.extensions) ? given.extensions : undefined,
    faults,
    (entry) => (hasMethods(entry, ['extend']) ? nameOf(entry) : undefined),
    'must have a name and the method extend',
  )
  if (given.environment !== undefined && typeof given.environment !== 'function')
    faults.add('environment', 'must be a function that reads it')
  if (given.serviceUser !== undefined && !(typeof given.serviceUser === 'string' && given.serviceUser !== ''))
    faults.add('serviceUser', 'must be a text that is not empty')
  if (given.root !== undefined && typeof given.root !== 'string') faults.add('root', 'must be the path of a folder')
  if (given.resources !== undefined && typeof given.resources !== 'function')
    faults.add('resources', 'must be a function that makes them; live ones are given to execute')
  for (const reference of settings.fallback) {
    const id = reference.slice(0, reference.indexOf('/'))
    if (!providers.has(id)) faults.add('settings.fallback', `names the provider "${id}", which is not registered`)
  }
  faults.throwIfAny('The options of createRuntime are not acceptable', { reason: 'runtime.options' })
  return { limits, timeouts, settings, providers, tools }
}

/** What each injected part has to bring; what it does is its own affair. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  store: ['documents', 'log', 'transaction', 'orphans', 'close'],
  engine: ['run', 'snapshot', 'forget'],
  clock: ['now', 'monotonic', 'setTimeout'],
  ids: ['id', 'requestId'],
  logger: ['debug', 'info', 'warn', 'error'],
}
const TYPE_METHODS = ['validate', 'references', 'run']

function hasMethods(value: unknown, methods: readonly string[]): boolean {
  if (value === null || typeof value !== 'object') return false
  return methods.every((method) => typeof (value as Readonly<Record<string, unknown>>)[method] === 'function')
}

function nameOf(value: unknown): string | undefined {
  const { name } = value as { readonly name?: unknown }
  return typeof name === 'string' && name !== '' ? name : undefined
}

function named(
  place: string,
  given: unknown,
  faults: Faults,
  nameOf: (entry: unknown) => string | undefined,
  text: string,
): Map<string, unknown> {
  const found = new Map<string, unknown>()
  if (given === undefined) return found
  if (!Array.isArray(given)) {
    faults.add(place, 'must be a list')
    return found
  }
  for (const [index, entry] of given.entries()) {
    const name = nameOf(entry)
    if (name === undefined) faults.add(`${place}.${index}`, text)
    else if (found.has(name)) faults.add(`${place}.${index}`, `has the name "${name}" a second time`)
    else found.set(name, entry)
  }
  return found
}

function isProvider(entry: unknown): entry is ModelProvider {
  if (entry === null || typeof entry !== 'object') return false
  const { id, protocol, generate, stream, defaults } = entry as Partial<ModelProvider>
  return (
    typeof id === 'string' &&
    id !== '' &&
    !id.includes('/') &&
    typeof protocol === 'string' &&
    typeof generate === 'function' &&
    typeof stream === 'function' &&
    typeof defaults === 'object'
  )
}
