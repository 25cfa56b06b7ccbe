import type { OwnTurn, OwnTurnResult } from '../agents/agent-work.js'
import { sealProfile } from '../agents/seal-profile.js'
import { Faults } from '../errors/faults.js'
import { DEFAULT_SETTINGS, readSettings } from '../generate/settings.js'
import type { LoopSettings } from '../generate/settings.js'
import type { RunningAgent } from './run-agent.js'
import { runProfileAgent } from './run-profile-agent.js'

/** One turn with the model as the run of an agent that is made of others: its prompts stand in a stored profile. */
export async function takeOwnTurn(running: RunningAgent, turn: OwnTurn): Promise<OwnTurnResult> {
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
        agent: { ...agent, definition, tools: turn.tools },
        input: turn.input,
        followUp: turn.followUp,
        history: turn.history,
        files: turn.files,
        output: turn.output,
        settings: core.parts.settings,
        own: checkedSettings(turn, agent.code),
        onlyTools: true,
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

/** @throws INVALID_CONFIG */
function checkedSettings({ settings }: OwnTurn, code: string): Partial<LoopSettings> | undefined {
  if (settings === undefined) return undefined
  const faults = new Faults()
  readSettings(DEFAULT_SETTINGS, settings, faults)
  faults.throwIfAny(`The settings of a turn of agent "${code}" are not acceptable`, { reason: 'work.turn' })
  return settings
}
