import { createAgentRegistry } from '../agents/agent-registry.js'
import type { AgentDefinition } from '../agents/agent-definition.js'
import type { AgentType, AgentTypeRules } from '../agents/agent-type.js'
import { profileAgentRules } from '../agents/profile-agent-rules.js'
import { createSystemEnvironment } from '../context/environment.js'
import type { EnvironmentReader } from '../context/environment.js'
import type { Engine } from '../engine/engine.js'
import { inlineEngine } from '../engine/inline/inline-engine.js'
import { SluiceError } from '../errors/sluice-error.js'
import { EventHub } from '../events/event-hub.js'
import type { RuntimeParts } from '../generate/runtime-parts.js'
import type { Limits, LoopSettings, Timeouts } from '../generate/settings.js'
import type { PluginList } from '../hooks/check-plugins.js'
import { findRoot } from '../hooks/load-convention.js'
import { systemClock } from '../internal/clock.js'
import type { Clock } from '../internal/clock.js'
import { Deadlines } from '../internal/deadlines.js'
import { createIds } from '../internal/ids.js'
import type { Ids } from '../internal/ids.js'
import type { Logger } from '../internal/logger.js'
import { createPromptRegistry } from '../prompts/create-prompt-registry.js'
import type { PromptProfileDefinition } from '../prompts/prompt-profile.js'
import type { ModelProvider } from '../providers/model-provider.js'
import { createExecutionReadModel } from '../sessions/execution-read-model.js'
import { createSessionReadModel } from '../sessions/session-read-model.js'
import type { Store } from '../store/store.js'
import type { ToolDefinition } from '../tools/tool-definition.js'
import { AgentPrompts } from './agent-prompts.js'
import { runAgentTool } from './agent-tool.js'
import { checkRuntimeOptions } from './check-runtime-options.js'
import type { CheckedRuntime } from './check-runtime-options.js'
import { checkAgentSchemas } from './check-schemas.js'
import { originOf } from './execution-row.js'
import { HookSlot } from './hook-slot.js'
import { recoverCrashed } from './recover.js'
import { Flight } from './runtime-core.js'
import type { ResourcesFactory, RuntimeCore, RuntimeFace } from './runtime-core.js'
import { runtimeOf } from './runtime-face.js'
import type { Runtime } from './runtime.js'
import { safeLogger } from './safe-logger.js'
import { stderrLogger } from './stderr-logger.js'

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

/**
 * Makes a runtime. All faults of its options are reported at once; a set of plugins that cannot be built, and an app that has
 * none and does not say so, are refused.
 *
 * @example
 * const runtime = await createRuntime({ providers: [openai()], agents: [desk], plugins: [killSwitch()] })
 * const run = await runtime.execute({ agent: 'ap_desk', input: { question: 'Is INV-7 due?' } })
 *
 * @throws INVALID_CONFIG, DUPLICATE_NAME, HOOKS_MISSING, HOOK_REGISTRATION, SCHEMA_UNSUPPORTED, ROOT_UNKNOWN, STORE_LOCKED, STORE_DAMAGED ...
 */
export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  const checked = checkRuntimeOptions(options)
  const clock = options.clock ?? systemClock
  const ids = options.ids ?? createIds(() => clock.now())
  const logger = safeLogger(options.logger ?? stderrLogger())
  const runtimeKey = {}
  const store = options.store ?? (await defaultStore(options.root))
  const deadlines = new Deadlines(clock, [...Object.values(checked.timeouts), checked.limits.durationMs])
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
    return runtimeOf(face, { ownsStore: options.store === undefined })
  } catch (error) {
    deadlines.close()
    await slot?.close().catch(() => undefined)
    if (options.store === undefined) await store.close().catch(() => undefined)
    throw error
  }
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

function buildCore(options: RuntimeOptions, checked: CheckedRuntime, given: CoreParts): RuntimeCore {
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
  const { agents } = options
  if (agents === undefined || agents.length === 0) return
  checkAgentSchemas(core, agents)
  await core.agents.register(agents)
}

/** The folder store beside the package.json of the application; loaded only here. */
async function defaultStore(root: string | undefined): Promise<Store> {
  const folder = await findRoot(root, 'the default store')
  const { createLowdbStore } = await import('../store/lowdb/index.js')
  return createLowdbStore({ folder: `${folder}/.sluice` })
}
