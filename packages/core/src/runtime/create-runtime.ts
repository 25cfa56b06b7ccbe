import { createAgentRegistry } from '../agents/agent-registry.js'
import type { AgentDefinition } from '../agents/agent-definition.js'
import type { AgentType, AgentTypeRules } from '../agents/agent-type.js'
import { profileAgentRules } from '../agents/profile-agent-rules.js'
import { createSystemEnvironment } from '../context/environment.js'
import type { EnvironmentReader } from '../context/environment.js'
import type { Engine } from '../engine/engine.js'
import { inlineEngine } from '../engine/inline/inline-engine.js'
import { Faults } from '../errors/faults.js'
import { SluiceError } from '../errors/sluice-error.js'
import { EventHub } from '../events/event-hub.js'
import type { RuntimeParts } from '../generate/runtime-parts.js'
import { readLimits, readSettings, readTimeouts, DEFAULT_SETTINGS } from '../generate/settings.js'
import type { Limits, LoopSettings, Timeouts } from '../generate/settings.js'
import type { PluginList } from '../hooks/apply-plugins.js'
import { findRoot } from '../hooks/load-convention.js'
import { mergeSets } from '../hooks/merge-sets.js'
import { systemClock } from '../internal/clock.js'
import type { Clock } from '../internal/clock.js'
import { Deadlines } from '../internal/deadlines.js'
import { createIds } from '../internal/ids.js'
import type { Ids } from '../internal/ids.js'
import { isPlainObject } from '../internal/json.js'
import type { Logger } from '../internal/logger.js'
import { createPromptRegistry } from '../prompts/create-prompt-registry.js'
import type { PromptProfileDefinition } from '../prompts/prompt-profile.js'
import type { ModelProvider } from '../providers/model-provider.js'
import { createExecutionReadModel } from '../sessions/execution-read-model.js'
import { createSessionReadModel } from '../sessions/session-read-model.js'
import type { Store } from '../store/store.js'
import { isToolDefinition } from '../tools/define-tool.js'
import type { ToolDefinition } from '../tools/tool-definition.js'
import { AgentPrompts } from './agent-prompts.js'
import { runAgentTool } from './agent-tool.js'
import { originOf } from './execution-row.js'
import { HookSlot } from './hook-slot.js'
import { recoverCrashed } from './recover.js'
import { Flight } from './runtime-core.js'
import type { ResourcesFactory, RuntimeCore, RuntimeFace } from './runtime-core.js'
import { runtimeOf } from './runtime-face.js'
import type { Runtime } from './runtime.js'

/** Options of `createRuntime`. Nothing of them is changed after creation. */
export interface RuntimeOptions {
  /** Default: the folder store in `.sluice` beside the package.json of `root`. */
  readonly store?: Store
  readonly providers?: readonly ModelProvider[]
  /** Tools that agents name by their code, and that stored profiles select by tag. */
  readonly tools?: readonly (ToolDefinition<never> | ToolDefinition)[]
  /** Agents that stand in code; a changed one becomes the next version and is activated. */
  readonly agents?: readonly AgentDefinition[]
  /** Agent types that other packages bring. */
  readonly agentTypes?: readonly AgentType[]
  /** Prompt profiles that stand in code. */
  readonly prompts?: readonly PromptProfileDefinition[]
  /** The plugins. Left out: those of `sluice.hooks.{mjs,js,ts}` in `root`; there has to be one. An app without gates says `[]`. */
  readonly plugins?: PluginList
  /** Folder of the application's package.json. Default: that of the main module, never the working directory. */
  readonly root?: string
  readonly engine?: Engine
  /** Makes `tool.resources` for runs whose caller gave none. */
  readonly resources?: ResourcesFactory
  /** Who stands in records where a caller has no user; never a key of a limit. */
  readonly serviceUser?: string
  /** Default: warnings and errors on standard error, one line each. */
  readonly logger?: Logger
  readonly clock?: Clock
  readonly ids?: Ids
  readonly environment?: EnvironmentReader
  readonly limits?: Partial<Limits>
  readonly timeouts?: Partial<Timeouts>
  readonly settings?: Partial<LoopSettings>
}

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

/**
 * Makes a runtime. All faults of its options are reported at once; a set of plugins that cannot be built, and an app that has
 * none and does not say so, are refused.
 *
 * @example
 * const runtime = await createRuntime({ providers: [openai()], agents: [desk], plugins: [killSwitch()] })
 * const run = await runtime.execute({ agent: 'ap_desk', input: { question: 'Is INV-7 due?' } })
 *
 * @throws INVALID_CONFIG, DUPLICATE_NAME, HOOKS_MISSING, HOOK_REGISTRATION, ROOT_UNKNOWN, STORE_LOCKED, STORE_DAMAGED ...
 */
export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  const checked = checkOptions(options)
  const clock = options.clock ?? systemClock
  const ids = options.ids ?? createIds(() => clock.now())
  const logger = options.logger ?? stderrLogger()
  const runtimeKey = {}
  const store = options.store ?? (await defaultStore(options.root))
  const deadlines = new Deadlines(clock)
  let slot: HookSlot | undefined
  try {
    const applyParts = {
      runtimeKey,
      store,
      clock,
      ids,
      logger,
      hookTimeoutMs: checked.timeouts.hookTimeoutMs,
      observerTimeoutMs: checked.timeouts.observerTimeoutMs,
    }
    slot = new HookSlot(applyParts, options.plugins, options.root, 'explicit')
    await slot.open()
    const core = buildCore(options, checked, { runtimeKey, store, clock, ids, logger, deadlines, faceOf: () => face })
    const face: RuntimeFace = { core, slot, prompts: new AgentPrompts() }
    await registerDefinitions(options, core)
    const crashed = await recoverCrashed(face)
    const { set } = slot.state
    logger.info(
      {
        plugins: set?.plugins.map((plugin) => plugin.key) ?? [],
        hooks: set === undefined ? null : originOf(set),
        store: store.kind,
        engine: core.parts.engine.id,
        crashed,
      },
      'sluice runtime ready',
    )
    return runtimeOf(face, { applyParts, ownsStore: options.store === undefined })
  } catch (error) {
    deadlines.close()
    await slot?.close().catch(() => undefined)
    if (options.store === undefined) await store.close().catch(() => undefined)
    throw error
  }
}

interface Checked {
  readonly limits: Limits
  readonly timeouts: Timeouts
  readonly settings: LoopSettings
  readonly providers: ReadonlyMap<string, ModelProvider>
  readonly tools: ReadonlyMap<string, ToolDefinition>
}

function checkOptions(options: RuntimeOptions): Checked {
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

interface CoreParts {
  readonly runtimeKey: object
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
  readonly deadlines: Deadlines
  faceOf(): RuntimeFace
}

function buildCore(options: RuntimeOptions, checked: Checked, given: CoreParts): RuntimeCore {
  const { store, clock, ids, logger } = given
  const parts: RuntimeParts = {
    runtimeKey: given.runtimeKey,
    clock,
    ids,
    logger,
    deadlines: given.deadlines,
    store,
    health: { errors: 0, late: 0, lastError: null },
    engine: options.engine ?? inlineEngine({ clock, ids }),
    providers: checked.providers,
    events: new EventHub(),
    limits: checked.limits,
    timeouts: checked.timeouts,
    settings: checked.settings,
    runAgentTool: (run) => runAgentTool(given.faceOf(), run),
    mergeSets,
  }
  const types = agentTypes(options.agentTypes ?? [])
  const prompts = createPromptRegistry({ store, clock, ids, logger })
  const serviceUser = options.serviceUser ?? null
  const rules: ReadonlyMap<string, AgentTypeRules> = types
  return {
    parts,
    agents: createAgentRegistry({ store, types: rules, tools: checked.tools, clock, ids, createdBy: serviceUser }),
    prompts,
    sessions: createSessionReadModel({ store, clock }),
    executions: createExecutionReadModel({ store }),
    types,
    tools: checked.tools,
    environment: options.environment ?? createSystemEnvironment(),
    serviceUser,
    resources: options.resources,
    flight: new Flight(checked.limits.runsInFlight),
  }
}

function agentTypes(given: readonly AgentType[]): ReadonlyMap<string, AgentType> {
  const profile: AgentType = {
    ...profileAgentRules,
    run: () => Promise.reject(new SluiceError('UNKNOWN_AGENT_TYPE', 'Profile agents are run by the runtime itself.')),
  }
  const types = new Map<string, AgentType>([['profile', profile]])
  for (const type of given) {
    if (types.has(type.type))
      throw new SluiceError('DUPLICATE_NAME', `The agent type "${type.type}" is brought twice.`, {
        hint: 'Give each type once.',
      })
    types.set(type.type, type)
  }
  return types
}

/** Definitions of the code: profiles first, since agents refer to them. */
async function registerDefinitions(options: RuntimeOptions, core: RuntimeCore): Promise<void> {
  for (const definition of options.prompts ?? []) {
    await core.parts.store.transaction((transaction) =>
      createPromptRegistry({
        store: transaction,
        clock: core.parts.clock,
        ids: core.parts.ids,
        logger: core.parts.logger,
      }).sync(definition, { by: core.serviceUser }),
    )
  }
  if (options.agents !== undefined && options.agents.length > 0) await core.agents.register(options.agents)
}

/** The folder store beside the package.json of the application; loaded only here. */
async function defaultStore(root: string | undefined): Promise<Store> {
  const folder = await findRoot(root, 'the default store')
  const { createLowdbStore } = await import('../store/lowdb/index.js')
  return createLowdbStore({ folder: `${folder}/.sluice` })
}

/** Warnings and errors as one JSON line each on standard error. */
function stderrLogger(): Logger {
  const write = (level: string, fields: Readonly<Record<string, unknown>>, text: string): void => {
    process.stderr.write(`${safeLine({ level, text, ...fields })}\n`)
  }
  return {
    debug: () => undefined,
    info: () => undefined,
    warn: (fields, text) => write('warn', fields, text),
    error: (fields, text) => write('error', fields, text),
  }
}

function safeLine(record: Readonly<Record<string, unknown>>): string {
  try {
    // JSON escapes control characters below U+0020; these are the others that move a cursor or hide text
    return JSON.stringify(record)
      .replace(
        /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
        (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
      )
      .slice(0, 16_384)
  } catch {
    return '{"text":"a log record that cannot be shown"}'
  }
}
