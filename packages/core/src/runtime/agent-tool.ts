import type { AgentToolRun } from '../generate/runtime-parts.js'
import { AgentToolResult } from '../generate/runtime-parts.js'
import { unionLabels } from '../messages/label.js'
import { runNested } from './nested-run.js'
import type { RuntimeFace } from './runtime-core.js'

/** What the model reads of an agent that gave no answer (O-11). */
const NO_ANSWER = 'The agent gave no answer.'

/** Runs the agent behind a tool: the framework starts it, so that it can be paused through. */
export async function runAgentTool(
  face: RuntimeFace,
  { agent, input, parent, steps, path, labels }: AgentToolRun,
): Promise<AgentToolResult> {
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
      pausable: parent.options.pausable,
      steps: inner,
      path: `${path}/run`,
    }),
  )
  const { output, text } = done.result
  const message = output === undefined ? text : JSON.stringify(output)
  return new AgentToolResult(message ?? NO_ANSWER, unionLabels(done.labels, [{ kind: 'delegate', source: agent }]))
}
