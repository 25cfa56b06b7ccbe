import type { AgentResult, ResolvedAgent } from '../agents/agent-type.js'
import type { Frame } from '../context/frame.js'
import type { RunContext } from '../context/run-context.js'
import type { Steps } from '../engine/engine.js'
import { SluiceError } from '../errors/sluice-error.js'
import type { RunScope } from '../generate/run-scope.js'
import { deepFreeze } from '../internal/deep-freeze.js'
import type { JsonObject, JsonValue } from '../internal/json.js'
import type { FilePart, Message } from '../messages/message.js'
import type { EarlierTurns } from '../sessions/history.js'
import type { CompiledSchema } from '../tools/compile-validator.js'
import { issuesText } from '../tools/schema-issue.js'
import { agentTypeOf } from './agent-type-of.js'
import { RunWork } from './agent-work.js'
import { countedCalls, outputColumn } from './execution-row.js'
import type { NestedResult, NestedRun } from './nested-run.js'
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
  /** The turns that this one follows. */
  readonly earlier: EarlierTurns
  readonly files: readonly FilePart[]
  readonly output: CompiledSchema | null
  /** Starts a run below this one. */
  readonly nest: (nested: NestedRun) => Promise<NestedResult>
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
        history: running.earlier.messages,
        files: running.files,
        output: running.output,
        settings: core.parts.settings,
        stream: run.sink !== undefined,
      },
      running.recorder,
    )
    return resultOf(running, { ...done, iterationCount: 0, details: null })
  } finally {
    frame.requestId = undefined
  }
}

async function runOther(running: RunningAgent): Promise<AgentRunResult> {
  const { face, run, agent, earlier } = running
  const type = agentTypeOf(face.core, agent)
  const controller = new AbortController()
  const onStop = (reason: unknown): void => controller.abort(reason)
  run.stops.listen(onStop)
  try {
    const work = new RunWork(running)
    const done: AgentResult = await type.run({
      agent,
      input: running.input,
      followUp: running.followUp,
      history: earlier.messages,
      historyBy: earlier.by,
      earlier: earlier.output,
      files: running.files,
      output: running.output,
      runContext: run.facts.runContext as RunContext,
      signal: controller.signal,
      logger: face.core.parts.logger,
      work,
    })
    // whatever a type does with an error: a stop ends the run, and a pause leaves it
    work.check()
    if (done.messages !== undefined && done.messages.length > 0) await work.say(done.messages, agent.code)
    const output = await checkedOutput(running, done, work.turned)
    return resultOf(running, {
      ...done,
      output,
      details: done.details ?? null,
      messages: run.call?.shown() ?? [],
      model: null,
      provider: null,
    })
  } finally {
    run.stops.unlisten(onStop)
  }
}

/**
 * The output schema of an agent of another type is enforced on its final answer: a text, where there is nothing else.
 * A turn of its own has enforced it already.
 */
async function checkedOutput(
  running: RunningAgent,
  { output, text }: AgentResult,
  turned: boolean,
): Promise<JsonValue | undefined> {
  const schema = running.output ?? running.agent.definition.output
  if (schema === null || (output === undefined && turned)) return output
  const answer = output === undefined ? text : output
  const found = await schema.validate(answer)
  if (found.ok) return answer
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
    details: JsonObject | null
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
      details: done.details === null ? null : deepFreeze(done.details),
      toolCalls: Object.freeze([...run.toolCalls]),
      pending: [],
      model: done.model,
      provider: done.provider,
    },
    output: outputColumn(
      { ...done, usage: run.usage, toolCallsCount: countedCalls(run) },
      { executionId, agentCode: agent.code, agentVersion: agent.version, sessionId },
    ),
    iterationCount: done.iterationCount,
  }
}
