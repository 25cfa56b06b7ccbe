import type { ConfigReader, Given } from '../orchestration/config-reader.js'
import { isAbsent, isObject } from '../orchestration/config-reader.js'
import type { HistoryManagement } from '../orchestration/history-management.js'
import { readHistoryManagement } from '../orchestration/history-management.js'
import { shown } from '../workflow/fault-list.js'
import type { InputMapping } from '../workflow/input-mapping.js'
import { parseMapping } from '../workflow/input-mapping.js'
import type { ConversationMode } from './conversation-json.js'

/** Rounds of a round robin, contributions of a moderated conversation, where nothing is said (C-2). */
export const DEFAULT_MAX_TURNS = 10

/** One who contributes. */
export interface Participant {
  readonly code: string
  readonly role: string | undefined
  readonly mapping: InputMapping
}

/** Who picks the speakers. */
export interface Moderator {
  readonly code: string
  readonly mapping: InputMapping
  /** `undefined`: no summary, the last contribution is the answer (C-11). */
  readonly summaryMapping: InputMapping | undefined
}

/** The configuration of a conversation as a run works with it. */
export interface ConversationConfig {
  readonly mode: ConversationMode
  readonly participants: readonly Participant[]
  /** Of a round robin `undefined`: nobody asks it. */
  readonly moderator: Moderator | undefined
  readonly maxTurns: number
  /** Ends a round robin; `undefined` where nothing does. */
  readonly keyword: string | undefined
  readonly history: HistoryManagement
  /** What is no fault and has no effect; told when the conversation runs. */
  readonly ignored: readonly string[]
  /** True where `max_turns` was left open. */
  readonly defaultTurns: boolean
}

const KEYS = [
  ...['pattern_type', 'conversation_mode', 'agents', 'participant_agents', 'max_turns'],
  ...['termination_condition', 'moderator_agent', 'history_management'],
]
const MODES: readonly ConversationMode[] = ['round_robin', 'ai_driven']
const PARTICIPANT_KEYS = ['agent_code', 'input_mapping', 'role']
const MODERATOR_KEYS = ['agent_code', 'input_mapping', 'summary_mapping']
const KEYWORD_TYPES: readonly unknown[] = ['keyword_in_response', 'keyword']

/** What the mappings of a conversation may name (C-12). */
const ROOTS = {
  round_robin: ['input', 'chat_history', 'agent_description'],
  ai_driven: ['input', 'chat_history', 'agent_description', 'moderator_rationale'],
  moderator: ['input', 'chat_history', 'available_agents'],
} as const

/** True for a mode that there is (C-1). */
export function isConversationMode(mode: unknown): mode is ConversationMode {
  return MODES.includes(mode as ConversationMode)
}

/** Reads the configuration of a conversation. */
export function readConversationConfig(given: Given, reader: ConfigReader, own: string): ConversationConfig {
  reader.faults.addUnknown('orchestration_config', given, KEYS)
  const { conversation_mode: said } = given
  if (!isConversationMode(said)) reader.faults.add('conversation_mode', `must be one of ${MODES.join(', ')}`)
  const mode = isConversationMode(said) ? said : 'round_robin'
  const participants = readParticipants(given, reader, mode)
  if (mode === 'ai_driven')
    reader.once(
      'agents',
      participants.map(({ code }) => code),
    )
  const ignored: string[] = []
  const moderator = readModerator(given, reader, mode, ignored)
  if ([...participants, ...(moderator === undefined ? [] : [moderator])].some(({ code }) => code === own))
    reader.faults.add('agents', 'name the conversation itself, which would begin itself without end')
  const maxTurns = reader.count('max_turns', given.max_turns, 1)
  return Object.freeze({
    mode,
    participants: Object.freeze(participants),
    moderator,
    maxTurns: maxTurns ?? DEFAULT_MAX_TURNS,
    keyword: readKeyword(given, reader, mode, ignored),
    history: readHistoryManagement(reader, given.history_management),
    ignored: Object.freeze(ignored),
    defaultTurns: maxTurns === undefined,
  })
}

function readParticipants(given: Given, reader: ConfigReader, mode: ConversationMode): Participant[] {
  // the older spelling is taken where the other one is not there (C-W2)
  const alias = given.agents === undefined && given.participant_agents !== undefined
  if (given.agents !== undefined && given.participant_agents !== undefined)
    reader.faults.add('participant_agents', 'is the older name of `agents`; have only one of them')
  const key = alias ? 'participant_agents' : 'agents'
  return reader.list(key, given[key], 'entries { agent_code, input_mapping }').map((one, index) => {
    const place = `${key}[${index}]`
    const entry = reader.object(place, one, PARTICIPANT_KEYS)
    return Object.freeze({
      code: reader.code(`${place}.agent_code`, entry.agent_code),
      role: isAbsent(entry.role) ? undefined : reader.text(`${place}.role`, entry.role, 'the transcript names it'),
      mapping: parseMapping(`${place}.input_mapping`, entry.input_mapping, ROOTS[mode], reader.faults),
    })
  })
}

function readModerator(
  { moderator_agent: given }: Given,
  reader: ConfigReader,
  mode: ConversationMode,
  ignored: string[],
): Moderator | undefined {
  if (mode === 'round_robin') {
    if (!isAbsent(given)) ignored.push('moderator_agent: nobody asks it in a round robin')
    return undefined
  }
  const entry = reader.object('moderator_agent', given, MODERATOR_KEYS)
  if (!isObject(given)) return undefined
  const mapping = (key: string): InputMapping =>
    parseMapping(`moderator_agent.${key}`, entry[key], ROOTS.moderator, reader.faults)
  return Object.freeze({
    code: reader.code('moderator_agent.agent_code', entry.agent_code),
    mapping: mapping('input_mapping'),
    summaryMapping: isAbsent(entry.summary_mapping) ? undefined : mapping('summary_mapping'),
  })
}

/** Types that nobody knows are ignored (C-6); what is known has to be whole. */
function readKeyword(
  { termination_condition: given }: Given,
  reader: ConfigReader,
  mode: ConversationMode,
  ignored: string[],
): string | undefined {
  if (isAbsent(given)) return undefined
  const condition = reader.object('termination_condition', given, isObject(given) ? Object.keys(given) : [])
  if (!isObject(given)) return undefined
  if (mode === 'ai_driven') {
    ignored.push('termination_condition: a moderated conversation is ended by its moderator')
    return undefined
  }
  if (!KEYWORD_TYPES.includes(condition.type)) {
    const type = typeof condition.type === 'string' ? shown(condition.type) : 'no text'
    ignored.push(`termination_condition.type: ${type} is unknown; there is "keyword_in_response"`)
    return undefined
  }
  reader.faults.addUnknown('termination_condition', condition, ['type', 'keyword'])
  if (typeof condition.keyword === 'string' && condition.keyword !== '') return condition.keyword
  reader.faults.add('termination_condition.keyword', 'must be a text of at least one character')
  return undefined
}
