import type { ToolDefinition } from '../tools/tool-definition.js'
import type { Label } from '../messages/label.js'
import type { OwnTurn, OwnTurnResult } from '../agents/agent-work.js'
import { sealProfile } from '../agents/seal-profile.js'
import { Faults } from '../errors/faults.js'
import { DEFAULT_SETTINGS, readSettings } from '../generate/settings.js'
import type { LoopSettings } from '../generate/settings.js'
import type { RunningAgent } from './run-agent.js'
import { runProfileAgent } from './run-profile-agent.js'

/**
 * One turn with the model as the run of an agent that is made of others: its prompts stand in a stored profile. `labels` are
 * of what the agent has met before it.
 */
export async function takeOwnTurn(
  running: RunningAgent,
  turn: OwnTurn,
  labels: readonly Label[],
): Promise<OwnTurnResult> {
  const { face, run, steps, frame, agent, path, recorder } = running
  const { core } = face
  const { code, version = null } = turn.profile
  const requestId = core.parts.ids.requestId()
  const definition = sealProfile(agent.definition, { code, version })
  frame.requestId = requestId
  try {
    const done = await runProfileAgent(
      core,
      face.prompts,
      run,
      steps,
      path,
      requestId,
      {
        agent: { ...agent, definition, tools: toolsOf(running, turn) },
        input: turn.input,
        followUp: turn.followUp,
        history: turn.history,
        files: turn.files,
        output: turn.output,
        settings: core.parts.settings,
        own: checkedSettings(turn, agent.code),
        onlyTools: true,
        labels,
        stream: run.sink !== undefined,
      },
      recorder,
    )
    return {
      text: done.text,
      output: done.output,
      messages: done.messages,
      finishReason: done.finishReason,
      usage: done.usage,
    }
  } finally {
    frame.requestId = undefined
  }
}

/** Those that the turn brings, those of extensions, then those of the runtime that carry one of its tags. */
function toolsOf({ face, agent }: RunningAgent, { tools, toolTags = [] }: OwnTurn): readonly ToolDefinition[] {
  if (toolTags.length === 0 && agent.tools.length === 0) return tools
  return [
    ...tools,
    ...agent.tools,
    ...[...face.core.tools.values()].filter((tool) => tool.tags.some((tag) => toolTags.includes(tag))),
  ]
}

/** @throws INVALID_CONFIG */
function checkedSettings({ settings }: OwnTurn, code: string): Partial<LoopSettings> | undefined {
  if (settings === undefined) return undefined
  const faults = new Faults()
  readSettings(DEFAULT_SETTINGS, settings, faults)
  faults.throwIfAny(`The settings of a turn of agent "${code}" are not acceptable`, { reason: 'work.turn' })
  return settings
}
