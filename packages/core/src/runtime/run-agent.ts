import type { AgentResult, ResolvedAgent } from '../agents/agent-type.js'
import type { Frame } from '../context/frame.js'
import type { RunContext } from '../context/run-context.js'
import type { Steps } from '../engine/engine.js'
import { SluiceError } from '../errors/sluice-error.js'
import type { RunScope } from '../generate/run-scope.js'
import type { JsonObject, JsonValue } from '../internal/json.js'
import type { FilePart, Message } from '../messages/message.js'
import { USAGE_NONE } from '../messages/usage.js'
import type { CompiledSchema } from '../tools/compile-validator.js'
import { issuesText } from '../tools/schema-issue.js'
import { agentTypeOf } from './agent-type-of.js'
import { countedCalls, outputColumn } from './execution-row.js'
import type { RunRecorder } from './recorder.js'
import { runProfileAgent } from './run-profile-agent.js'
import type { CompletedRun } from './run-result.js'
import type { RuntimeFace } from './runtime-core.js'

/** A run, top-level or nested, whose record is open. */
export interface RunningAgent {
  readonly face: RuntimeFace
  readonly run: RunScope
  readonly steps: Steps
  readonly frame: Frame
  readonly path: string
  readonly recorder: RunRecorder
  readonly agent: ResolvedAgent
  readonly input: JsonObject
  readonly followUp: string | null
  readonly history: readonly Message[]
  readonly files: readonly FilePart[]
  readonly output: CompiledSchema | null
}

/** What a run of an agent came to, for its caller and for its row. */
export interface AgentRunResult {
  readonly result: Omit<CompletedRun, 'receipts' | 'treeUsage' | 'status'>
  readonly output: JsonObject
  readonly iterationCount: number
}

/** Dispatches to the type of the agent. The frame carries the request id while the run's own call goes on. */
export async function runAgent(running: RunningAgent): Promise<AgentRunResult> {
  return running.agent.definition.agentType === 'profile' ? runProfile(running) : runOther(running)
}

async function runProfile(running: RunningAgent): Promise<AgentRunResult> {
  const { face, run, steps, frame, agent } = running
  const { core } = face
  const requestId = core.parts.ids.requestId()
  frame.requestId = requestId
  try {
    const done = await runProfileAgent(
      core,
      face.prompts,
      run,
      steps,
      running.path,
      requestId,
      {
        agent,
        input: running.input,
        followUp: running.followUp,
        history: running.history,
        files: running.files,
        output: running.output,
        settings: core.parts.settings,
        stream: run.sink !== undefined,
      },
      running.recorder,
    )
    return resultOf(running, { ...done, iterationCount: 0 })
  } finally {
    frame.requestId = undefined
  }
}

async function runOther(running: RunningAgent): Promise<AgentRunResult> {
  const { face, run, agent } = running
  const type = agentTypeOf(face.core, agent)
  const controller = new AbortController()
  const onStop = (reason: unknown): void => controller.abort(reason)
  run.stops.listen(onStop)
  try {
    const done: AgentResult = await type.run({
      agent,
      input: running.input,
      followUp: running.followUp,
      history: running.history,
      files: running.files,
      output: running.output,
      runContext: run.facts.runContext as RunContext,
      signal: controller.signal,
    })
    await checkOutput(running, done)
    return resultOf(running, {
      ...done,
      model: null,
      provider: null,
      usage: done.usage ?? USAGE_NONE,
    })
  } finally {
    run.stops.unlisten(onStop)
  }
}

/** The output schema of an agent of another type is enforced on its final answer. */
async function checkOutput(running: RunningAgent, done: AgentResult): Promise<void> {
  const schema = running.output ?? running.agent.definition.output
  if (schema === null || done.output === undefined) return
  const found = await schema.validate(done.output)
  if (found.ok) return
  throw new SluiceError(
    'OUTPUT_INVALID',
    `The answer of agent "${running.agent.code}" does not fit its output schema: ${issuesText(found.issues)}.`,
    { details: { path: found.issues[0]?.path ?? '' } },
  )
}

function resultOf(
  running: RunningAgent,
  done: {
    text: string | null
    output: JsonValue | undefined
    messages: readonly Message[]
    finishReason: string
    usage: CompletedRun['usage']
    model: string | null
    provider: string | null
    iterationCount: number
  },
): AgentRunResult {
  const { run, agent } = running
  const executionId = run.facts.executionId as string
  const sessionId = run.facts.sessionId as string
  return {
    result: {
      executionId,
      sessionId,
      agentCode: agent.code,
      agentVersion: agent.version,
      text: done.text,
      output: done.output,
      finishReason: done.finishReason,
      usage: run.usage,
      messages: done.messages,
      toolCalls: Object.freeze([...run.toolCalls]),
      pending: [],
      model: done.model,
      provider: done.provider,
    },
    output: outputColumn(
      { ...done, toolCallsCount: countedCalls(run) },
      { executionId, agentCode: agent.code, agentVersion: agent.version, sessionId },
    ),
    iterationCount: done.iterationCount,
  }
}
