import type {
  AgentDescription,
  AgentInvocation,
  AgentResult,
  ChildResult,
  JsonObject,
  JsonValue,
  Label,
  Message,
} from '@sluice/core'
import { encode } from '@toon-format/toon'
import { agentsError } from '../agents-error.js'
import { shown } from '../workflow/fault-list.js'
import type { InputMapping } from '../workflow/input-mapping.js'
import { mapInput, pathsOf } from '../workflow/input-mapping.js'
import { resolvePath } from '../workflow/path.js'
import { toText } from '../workflow/template.js'
import type { ConversationConfig, Moderator, Participant } from './conversation-config.js'
import type { ModeratorDecision } from './conversation-json.js'
import { describeParticipants } from './describe-participants.js'
import { moderatorSchema } from './moderator-schema.js'
import { Transcript } from './transcript.js'
import { unionOfLabels } from './union-of-labels.js'

/** Runs a conversation: contribution after contribution, then its answer. */
export async function runConversation(config: ConversationConfig, invocation: AgentInvocation): Promise<AgentResult> {
  const { work, agent, logger } = invocation
  const agents = await describeParticipants(work, agent.code, config)
  for (const ignored of config.ignored)
    logger.warn({ agentCode: agent.code, ignored }, 'a setting of a conversation has no effect')
  return new ConversationRun(config, invocation, agents).run()
}

/** Why a conversation is over (C-20). */
type EndReason = 'max_turns' | 'keyword' | 'moderator' | 'no_speaker'

/** How a conversation went: rounds or contributions, and what ended it. */
interface Ended {
  readonly turns: number
  readonly reason: EndReason
}

/** Whom the moderator has picked. */
interface Picked {
  readonly participant: Participant
  readonly rationale: string
  readonly labels: readonly Label[]
}

/** What a call is made of besides its mapping. */
interface Call {
  readonly variables: Readonly<Record<string, JsonValue>>
  /** Labels of what decided that the call is made, or of a variable. */
  readonly labels?: readonly Label[]
}

class ConversationRun {
  readonly #config: ConversationConfig
  readonly #invocation: AgentInvocation
  readonly #agents: ReadonlyMap<string, AgentDescription>
  readonly #transcript: Transcript
  /** True where a contribution came since the strategy of the history was applied. */
  #unmanaged = false
  #last: Pick<ChildResult, 'text' | 'output'> = { text: null }

  constructor(config: ConversationConfig, invocation: AgentInvocation, agents: ReadonlyMap<string, AgentDescription>) {
    this.#config = config
    this.#invocation = invocation
    this.#agents = agents
    this.#transcript = new Transcript(invocation.input, invocation.work.labels, config.history)
  }

  async run(): Promise<AgentResult> {
    const { work, input } = this.#invocation
    const { moderator } = this.#config
    const labels = work.labels
    await work.say([{ role: 'user', content: [{ type: 'text', text: inputText(input), ...own(labels) }] }], null)
    const ended = moderator === undefined ? await this.#roundRobin() : await this.#moderated(moderator)
    if (moderator?.summaryMapping !== undefined) await this.#summarise(moderator, moderator.summaryMapping)
    const { text, output } = this.#last
    return {
      text,
      output,
      finishReason: 'stop',
      iterationCount: ended.turns,
      details: {
        conversation: this.#transcript.toJson(),
        turns: ended.turns,
        completed: true,
        end_reason: ended.reason,
      },
    }
  }

  /** Everybody in the order of the list, round after round (C-5). */
  async #roundRobin(): Promise<Ended> {
    const { participants, maxTurns, keyword } = this.#config
    for (let round = 1; round <= maxTurns; round++) {
      for (const [index, participant] of participants.entries()) {
        const said = await this.#contribute(`r${round}.p${index + 1}`, round, participant)
        if (keyword !== undefined && said.includes(keyword)) return { turns: round, reason: 'keyword' }
      }
    }
    return { turns: maxTurns, reason: 'max_turns' }
  }

  /** Whom the moderator picks, one after another (C-9). */
  async #moderated(moderator: Moderator): Promise<Ended> {
    const { maxTurns } = this.#config
    for (let turn = 1; turn <= maxTurns; turn++) {
      const picked = await this.#pick(turn, moderator)
      if (typeof picked === 'string') return { turns: turn - 1, reason: picked }
      await this.#contribute(`t${turn}.p`, turn, picked.participant, picked)
    }
    return { turns: maxTurns, reason: 'max_turns' }
  }

  /** Asks the moderator. One that names a stranger is told so, once (C-W4). */
  async #pick(turn: number, moderator: Moderator): Promise<Picked | EndReason> {
    const { work, agent } = this.#invocation
    const place = `t${turn}`
    const call = await this.#moderatorCall(place, moderator, moderator.mapping)
    const output = moderatorSchema()
    const first = await work.run(nameOf(`${place}.m`, moderator.code), { ...call, output })
    const picked = this.#read(turn, first)
    if (typeof picked !== 'object' || 'participant' in picked) return picked
    const second = await work.run(nameOf(`${place}.again`, moderator.code), {
      agent: moderator.code,
      followUp: { text: this.#correction(picked.stranger), history: first.messages },
      output,
      labels: unionOfLabels([call.labels, first.labels]),
    })
    const again = this.#read(turn, second)
    if (typeof again !== 'object' || 'participant' in again) return again
    throw agentsError(
      'SPEAKER_NOT_FOUND',
      `Moderator "${moderator.code}" of conversation "${agent.code}" picked ${shown(picked.stranger)}, and when told that this is no participant, ${shown(again.stranger)}.`,
      {
        details: { agent: agent.code, moderator: moderator.code, turn, participants: this.#codes() },
        hint: 'Give the moderator `{$.available_agents}`, and tell it to answer with one of their codes.',
      },
    )
  }

  #read(turn: number, { output, labels }: ChildResult): Picked | EndReason | { readonly stranger: string } {
    const { next_speaker: speaker, discussion_complete: complete } = output as unknown as ModeratorDecision
    if (complete) return 'moderator'
    if (speaker === undefined || speaker === null || speaker.agent_code === '') {
      const { logger, agent } = this.#invocation
      logger.warn({ agentCode: agent.code, turn }, 'the moderator names nobody to speak next: the conversation ends')
      return 'no_speaker'
    }
    const participant = this.#config.participants.find(({ code }) => code === speaker.agent_code)
    if (participant === undefined) return { stranger: speaker.agent_code }
    return { participant, rationale: speaker.moderator_rationale, labels }
  }

  #correction(stranger: string): string {
    return `${shown(stranger)} takes no part in this conversation. Answer again, with one of these codes: ${this.#codes().join(', ')}.`
  }

  /** One contribution. Gives it as a text. */
  async #contribute(place: string, turn: number, participant: Participant, picked?: Picked): Promise<string> {
    const { work } = this.#invocation
    const { code, role, mapping } = participant
    const child = await this.#childOf(place, code, mapping, {
      variables: {
        agent_description: this.#agents.get(code)?.description ?? '',
        ...(picked === undefined ? {} : { moderator_rationale: picked.rationale }),
      },
      ...(picked === undefined ? {} : { labels: picked.labels }),
    })
    const { text, output, labels } = await work.run(nameOf(place, code), child)
    const message = output ?? text ?? ''
    const said = toText(message)
    this.#transcript.add({ agent: code, role, message, turn, labels })
    this.#unmanaged = true
    this.#last = { text, output }
    await work.say([spoken(said, labels)], code)
    await work.checkpoint({ turns: turn, contributions: this.#transcript.length, speaker: code })
    return said
  }

  async #summarise(moderator: Moderator, mapping: InputMapping): Promise<void> {
    const { work } = this.#invocation
    const call = await this.#moderatorCall('end', moderator, mapping)
    const { text, output, labels } = await work.run(nameOf('end.m', moderator.code), call)
    this.#last = { text, output }
    await work.say([spoken(toText(output ?? text ?? ''), labels)], moderator.code)
  }

  #moderatorCall(place: string, { code }: Moderator, mapping: InputMapping) {
    const available = this.#config.participants.map((participant) => ({
      agent_code: participant.code,
      description: this.#agents.get(participant.code)?.description ?? '',
    }))
    return this.#childOf(place, code, mapping, { variables: { available_agents: encode(available) } })
  }

  /** A call with all of its variables as they are now (C-13). */
  async #childOf(place: string, agent: string, mapping: InputMapping, { variables, labels = [] }: Call) {
    const { work, logger, agent: self } = this.#invocation
    if (this.#unmanaged) {
      this.#unmanaged = false
      await this.#transcript.manage(`${place}.history`, work, logger, self.code)
    }
    const state = { input: this.#transcript.input, chat_history: this.#transcript.chatHistory(), ...variables }
    const facts = { conversation: self.code, agent }
    const input: JsonObject = mapInput(
      mapping,
      {
        resolve: (path) => resolvePath(path, state),
        warn: (path) =>
          logger.warn(
            { ...facts, path: path.text },
            'a reference in a text has no value and leaves nothing in its place',
          ),
      },
      (parameter, path) =>
        agentsError(
          'CONVERSATION_MAPPING_FAILED',
          `Parameter ${shown(parameter)} of agent "${agent}" in conversation "${self.code}" names {$.${path.text}}, which has no value.`,
          {
            details: { ...facts, parameter, path: path.text },
            hint: 'Mend the path, or give the parameter `optional: true` or a `default`.',
          },
        ),
    )
    return { agent, input, labels: unionOfLabels([labels, this.#labelsOf(mapping)]) }
  }

  /** Sources of untrusted text in what a mapping reads. */
  #labelsOf(mapping: InputMapping): readonly Label[] {
    const roots = new Set(mapping.flatMap(([, source]) => pathsOf(source).map(({ segments }) => segments[0])))
    return unionOfLabels([
      roots.has('input') ? this.#transcript.inputLabels : [],
      roots.has('chat_history') ? this.#transcript.labels : [],
    ])
  }

  #codes(): readonly string[] {
    return this.#config.participants.map(({ code }) => code)
  }
}

/** The name of a run in the tree: where it stands, and its agent for who reads it. */
function nameOf(place: string, code: string): string {
  return `${place}.${code.slice(0, 40)}`
}

function spoken(text: string, labels: readonly Label[]): Message {
  return { role: 'assistant', content: [{ type: 'text', text }], ...own(labels) }
}

function own(labels: readonly Label[]): { readonly labels?: readonly Label[] } {
  return labels.length === 0 ? {} : { labels }
}

/** The input as a conversation shows it: its only text, else all of it as JSON. */
function inputText(input: JsonObject): string {
  const values = Object.values(input)
  return values.length === 1 && typeof values[0] === 'string' ? values[0] : JSON.stringify(input)
}
