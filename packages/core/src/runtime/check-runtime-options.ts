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
