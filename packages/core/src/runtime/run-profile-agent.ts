import type { ProfileAgentDefinition } from '../agents/agent-definition.js'
import { withSystemBlocks } from '../agents/agent-extension.js'
import type { ResolvedAgent } from '../agents/agent-type.js'
import type { RunContext } from '../context/run-context.js'
import type { Steps } from '../engine/engine.js'
import { journalMismatch } from '../engine/journal-mismatch.js'
import { CallScope } from '../generate/call-scope.js'
import { generateCall } from '../generate/generate-call.js'
import type { CallResultOf } from '../generate/generate-call.js'
import type { RunScope } from '../generate/run-scope.js'
import type { LoopSettings } from '../generate/settings.js'
import { augmentPrompt } from '../hooks/augment-prompt.js'
import type { JsonObject } from '../internal/json.js'
import { unionLabels } from '../messages/label.js'
import type { Label } from '../messages/label.js'
import type { FilePart, Message, TextPart } from '../messages/message.js'
import { resolvePromptCall, renderPrompt } from '../prompts/prepare-prompt.js'
import type { PromptCall } from '../prompts/prepare-prompt.js'
import type { PromptProfileRecord } from '../prompts/prompt-registry.js'
import { historyWindow } from '../sessions/history-window.js'
import type { CompiledSchema } from '../tools/compile-validator.js'
import type { ToolDefinition } from '../tools/tool-definition.js'
import type { AgentPrompts } from './agent-prompts.js'
import { buildPlan, settingsOf } from './build-plan.js'
import type { PlanOptions } from './build-plan.js'
import type { RunRecorder } from './recorder.js'
import type { RuntimeCore } from './runtime-core.js'

/** One turn of a profile agent. */
export interface ProfileTurn {
  readonly agent: ResolvedAgent
  readonly input: JsonObject
  readonly followUp: string | null
  /** The earlier conversation of a follow-up, within its window; empty on a first turn. */
  readonly history: readonly Message[]
  readonly files: readonly FilePart[]
  readonly output: CompiledSchema | null
  readonly settings: LoopSettings
  /** Over the settings of agent and profile. */
  readonly own?: Partial<LoopSettings> | undefined
  /** The tools of the agent are all there are: what the profile selects does not count (O-6). */
  readonly onlyTools?: boolean
  /** Labels of what led to the turn, where they are more than those of the run. */
  readonly labels?: readonly Label[]
  readonly stream: boolean
}

/** What a turn calls the model with. */
interface Prepared {
  readonly plan: PlanOptions
  readonly messages: readonly Message[]
}

/** Runs one turn of a profile agent in its scope: prompts, plan, the loop. */
export async function runProfileAgent(
  core: RuntimeCore,
  prompts: AgentPrompts,
  run: RunScope,
  steps: Steps,
  path: string,
  requestId: string,
  turn: ProfileTurn,
  recorder: RunRecorder,
): Promise<CallResultOf> {
  const call = new CallScope(run, {
    requestId,
    path,
    steps,
    hookSet: run.options.hookSet,
    gatePoints: run.options.gatePoints,
    main: true,
  })
  call.labels = unionLabels(call.labels, turn.labels)
  const prepared = await prepare(core, prompts, call, turn)
  const plan = buildPlan(core.parts.providers, prepared.plan)
  for (const message of prepared.messages) call.add(message)
  call.keepIds(call.messages)
  recorder.startAfter(turn.followUp === null ? 0 : prepared.messages.length - 1)
  return generateCall(call, plan, recorder)
}

async function prepare(
  core: RuntimeCore,
  prompts: AgentPrompts,
  call: CallScope,
  turn: ProfileTurn,
): Promise<Prepared> {
  const agent = turn.agent.definition as ProfileAgentDefinition
  const runContext = call.run.facts.runContext as RunContext
  if (agent.profile !== null) return prepareStored(core, call, turn, agent, runContext)
  const plan = planOf(agent, turn, {
    model: agent.model ?? '',
    settings: settingsOf(agent, turn.settings),
    output: turn.output ?? agent.output,
  })
  if (turn.followUp !== null) return { plan, messages: withHistory(agent, turn, turn.followUp) }
  const rendered = prompts.render(agent, turn.input, runContext)
  noteReplaced(call, rendered.replaced)
  return {
    plan,
    messages: await firstMessages(call, withSystemBlocks(rendered.system, turn.agent), rendered.user, turn.files),
  }
}

/** An agent whose prompts stand in a stored profile: provider, model and settings are those of the profile as it is now. */
async function prepareStored(
  core: RuntimeCore,
  call: CallScope,
  turn: ProfileTurn,
  agent: ProfileAgentDefinition,
  runContext: RunContext,
): Promise<Prepared> {
  const { code, version } = agent.profile as { code: string; version: number | null }
  const { prompt, record } = await core.prompts.resolve(code, version ?? undefined)
  await checkProfile(call, record)
  const resolved = resolvePromptCall(prompt)
  const settings = withOwn(profileSettings(settingsOf(agent, turn.settings), resolved), turn.own)
  const plan = planOf(agent, turn, {
    model: `${resolved.provider}/${resolved.model}`,
    settings,
    output: turn.output ?? agent.output ?? resolved.responseSchema,
    tools: turn.onlyTools === true ? turn.agent.tools : profileTools(core, turn.agent.tools, resolved),
    ...(agent.reasoning === null && resolved.settings.reasoning !== null
      ? { reasoning: resolved.settings.reasoning }
      : {}),
    ...(resolved.settings.baseUrl === null ? {} : { connection: { baseUrl: resolved.settings.baseUrl } }),
  })
  if (turn.followUp !== null) return { plan, messages: withHistory(agent, turn, turn.followUp) }
  const rendered = await renderPrompt(prompt, turn.input, runContext)
  noteReplaced(call, rendered.replaced)
  return {
    plan,
    messages: await firstMessages(call, withSystemBlocks(rendered.system, turn.agent), rendered.user, turn.files),
  }
}

/** The journal keeps which version of the profile a run began with: a replay never goes on under another prompt. */
async function checkProfile(call: CallScope, record: PromptProfileRecord): Promise<void> {
  const now = { code: record.code, version: record.version, digest: record.digest }
  const then = await call.steps.begin('profile', now)
  if (then.version === now.version && then.digest === now.digest) return
  throw journalMismatch(
    `The run was paused under version ${then.version} of prompt profile "${record.code}", which is now version ${now.version} or was changed. Nothing was run.`,
    { hint: 'Bring that version back, or cancel the run and start another.', details: { recorded: then, now } },
  )
}

function planOf(
  agent: ProfileAgentDefinition,
  turn: ProfileTurn,
  own: Pick<PlanOptions, 'model' | 'settings' | 'output'> & Partial<PlanOptions>,
): PlanOptions {
  return {
    tools: turn.agent.tools,
    hostedTools: agent.hostedTools,
    reasoning: agent.reasoning,
    temperature: agent.temperature,
    topP: agent.topP,
    stopSequences: agent.stopSequences,
    providerOptions: agent.providerOptions,
    stream: turn.stream,
    ...own,
  }
}

function withOwn(base: LoopSettings, own: Partial<LoopSettings> | undefined): LoopSettings {
  return own === undefined ? base : Object.freeze({ ...base, ...own })
}

/** Settings of a stored profile over those of the agent: what the profile does not say stays. */
export function profileSettings(base: LoopSettings, resolved: PromptCall): LoopSettings {
  const { maxToolCalls, maxOutputTokens } = resolved.settings
  if (maxToolCalls === null && maxOutputTokens === null) return base
  return Object.freeze({
    ...base,
    ...(maxToolCalls === null ? {} : { maxToolCalls }),
    ...(maxOutputTokens === null ? {} : { maxOutputTokens }),
  })
}

/** `g_enable_tools` and `g_tool_tags` select from the registry, in stored profiles only (G-5). */
export function profileTools(
  core: Pick<RuntimeCore, 'tools'>,
  own: readonly ToolDefinition[],
  resolved: PromptCall,
): readonly ToolDefinition[] {
  const { enableTools, toolTags } = resolved.settings
  if (!enableTools) return own
  const known = new Set(own.map((tool) => tool.code))
  const selected = [...core.tools.values()].filter(
    (tool) => !known.has(tool.code) && (toolTags.length === 0 || tool.tags.some((tag) => toolTags.includes(tag))),
  )
  return [...own, ...selected]
}

/** The messages of a first turn: the system prompt as the plugins left it, and the user message. */
export async function firstMessages(
  call: CallScope,
  system: string | null,
  user: string,
  files: readonly FilePart[],
): Promise<readonly Message[]> {
  const augmented = await augmentedSystem(call, system)
  const message = userMessage(user, files, call.labels)
  return augmented === undefined ? [message] : [{ role: 'system', content: augmented }, message]
}

/** The chain of `augmentSystemPrompt`, recorded as a step so that a replay sees the same prompt. */
export async function augmentedSystem(call: CallScope, system: string | null): Promise<string | undefined> {
  const taps = call.hookSet.prompt
  if (taps.length === 0) return system ?? undefined
  const { facts } = call.run
  const prompt = await call.steps.step('system-prompt', async () => {
    const next = await augmentPrompt(
      call.tree.observing,
      taps,
      system ?? undefined,
      {
        executionId: facts.executionId,
        rootExecutionId: facts.rootExecutionId,
        agentId: facts.agentId,
        agentCode: facts.agentCode,
        createdBy: facts.createdBy,
        sessionId: facts.sessionId,
        appId: call.tree.options.appId,
        tenant: call.tree.options.tenant,
        depth: facts.depth,
      },
      call.run.stops,
    )
    return next ?? null
  })
  return prompt ?? undefined
}

/** `labels`: of what the text was made from. */
function userMessage(text: string, files: readonly FilePart[], labels: readonly Label[]): Message {
  const part: TextPart = labels.length === 0 ? { type: 'text', text } : { type: 'text', text, labels }
  return { role: 'user', content: files.length === 0 ? [part] : [part, ...files] }
}

/** The window is cut with the new message in it; the log is never touched (S-39, S-40). */
function withHistory(agent: ProfileAgentDefinition, turn: ProfileTurn, followUp: string): readonly Message[] {
  const all = [...turn.history, userMessage(followUp, turn.files, [])]
  return agent.maxHistoryMessages === null ? all : historyWindow(all, { maxMessages: agent.maxHistoryMessages })
}

function noteReplaced(call: CallScope, replaced: readonly string[]): void {
  if (replaced.length === 0) return
  call.parts.logger.warn(
    { agentCode: call.run.facts.agentCode, placeholders: replaced },
    'bound values of the run context replaced input parameters of the same name',
  )
}
