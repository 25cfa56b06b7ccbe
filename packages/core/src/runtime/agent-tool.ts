import type { AgentToolRun } from '../generate/runtime-parts.js'
import { AgentToolResult } from '../generate/runtime-parts.js'
import { currentFrame } from '../context/frame.js'
import type { Frame } from '../context/frame.js'
import type { NestScope } from '../generate/nest-scope.js'
import { unionLabels } from '../messages/label.js'
import type { Label } from '../messages/label.js'
import { executeApart } from './execute.js'
import type { CheckedOptions } from './execute-options.js'
import { runNested } from './nested-run.js'
import type { Run } from './run-result.js'
import type { RuntimeFace } from './runtime-core.js'
import { checkVouched } from './vouched-result.js'

/** What the model reads of an agent that gave no answer (O-11). */
const NO_ANSWER = 'The agent gave no answer.'

/**
 * Runs the agent behind a tool: the framework starts it, so that it can be paused through. In a plain call outside any run
 * there is no run to join: it is a top-level run (O-20).
 */
export async function runAgentTool(face: RuntimeFace, run: AgentToolRun): Promise<AgentToolResult> {
  const { agent, dropsLabels, input, parent, steps, path, labels } = run
  if (dropsLabels) await checkVouched(face.core, { agent })
  if (parent.facts.executionId === null) return runApart(face, run)
  const done = await steps.branch('run', (inner) =>
    runNested({
      face,
      parent,
      agent,
      version: undefined,
      input,
      output: null,
      files: [],
      runContext: undefined,
      resources: undefined,
      labels,
      hookSet: parent.options.hookSet,
      gatePoints: parent.options.gatePoints,
      signal: undefined,
      modelsChecked: true,
      pausable: parent.options.pausable,
      steps: inner,
      path: `${path}/run`,
    }),
  )
  return resultOf(done.result, run, done.labels)
}

async function runApart(face: RuntimeFace, run: AgentToolRun): Promise<AgentToolResult> {
  const { agent, input, parent, path, labels } = run
  const scope: NestScope = { run: parent, path, next: 0, gatePoints: parent.options.gatePoints, labels: () => labels }
  const options: CheckedOptions = {
    agent,
    version: undefined,
    input,
    inputLabels: [],
    followUp: undefined,
    sessionId: undefined,
    output: null,
    files: [],
    runContext: undefined,
    caller: undefined,
    resources: undefined,
    signal: undefined,
    limits: undefined,
  }
  const done = await executeApart(face, options, { frame: currentFrame() as Frame, scope, tree: parent.tree })
  const last = done.messages.at(-1)
  return resultOf(done, run, last?.role === 'assistant' ? last.labels : undefined)
}

function resultOf(
  done: Pick<Run, 'text' | 'output'>,
  { agent, dropsLabels }: Pick<AgentToolRun, 'agent' | 'dropsLabels'>,
  labels: readonly Label[] | undefined,
): AgentToolResult {
  const { output, text } = done
  // vouched for is the checked answer alone
  if (dropsLabels) return new AgentToolResult(output === undefined ? NO_ANSWER : JSON.stringify(output), [])
  const message = output === undefined ? text : JSON.stringify(output)
  return new AgentToolResult(
    message === null || message === '' ? NO_ANSWER : message,
    unionLabels(labels, [{ kind: 'delegate', source: agent }]),
  )
}
