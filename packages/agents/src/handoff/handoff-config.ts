import type { ConfigReader, Given } from '../orchestration/config-reader.js'
import { isAbsent } from '../orchestration/config-reader.js'
import type { HistoryManagement } from '../orchestration/history-management.js'
import { readHistoryManagement } from '../orchestration/history-management.js'
import { toolNameOf } from '../orchestration/tool-name.js'
import { shown } from '../workflow/fault-list.js'

/** Handoffs in one turn where nothing is said (F-2). */
const DEFAULT_HANDOFFS = 3

/** An agent to which control can be handed. */
export interface Target {
  readonly code: string
  /** The name of its transfer tool. */
  readonly toolName: string
  /** When to hand over to it: the description of the tool (F-4). */
  readonly description: string
}

/** The configuration of a handoff as a run works with it. */
export interface HandoffConfig {
  readonly initial: string
  /** Codes of everybody who may hold control, the initial agent included. */
  readonly members: readonly string[]
  readonly maxHandoffs: number
  readonly history: HistoryManagement
  /** To whom an agent may hand over (F-5). */
  targetsOf(code: string): readonly Target[]
}

const KEYS = ['pattern_type', 'initial_agent_code', 'handoff_agents', 'max_handoffs', 'history_management']
const ENTRY_KEYS = ['agent_code', 'description', 'can_transfer_to']
const WHY = 'other agents choose by it whom to hand over to'

interface Entry extends Target {
  /** `undefined`: to everybody else. */
  readonly canTransferTo: readonly string[] | undefined
}

/** Reads the configuration of a handoff. */
export function readHandoffConfig(given: Given, reader: ConfigReader, own: string): HandoffConfig {
  reader.faults.addUnknown('orchestration_config', given, KEYS)
  const initial = reader.code('initial_agent_code', given.initial_agent_code)
  const entries = reader
    .list('handoff_agents', given.handoff_agents, 'entries { agent_code, description }')
    .map((entry, index) => readEntry(reader, `handoff_agents[${index}]`, entry))
  const named = entries.filter(({ code }) => code !== '')
  reader.once(
    'handoff_agents',
    named.map(({ code }) => code),
  )
  if (new Set(named.map(({ code }) => code)).size === named.length)
    reader.once(
      'names of the transfer tools of handoff_agents',
      named.map(({ toolName }) => toolName),
    )
  if (initial === own || named.some(({ code }) => code === own))
    reader.faults.add('handoff_agents', 'name the agent itself: its members are profile agents')
  checkTargets(reader, entries)
  const byCode = new Map(entries.map((entry) => [entry.code, entry]))
  const targets = new Map(
    [initial, ...byCode.keys()].map((code) => [code, Object.freeze(permitted(entries, byCode.get(code), code))]),
  )
  return Object.freeze({
    initial,
    members: Object.freeze([...targets.keys()]),
    maxHandoffs: reader.count('max_handoffs', given.max_handoffs, 0) ?? DEFAULT_HANDOFFS,
    history: readHistoryManagement(reader, given.history_management),
    targetsOf: (code: string) => targets.get(code) ?? [],
  })
}

function readEntry(reader: ConfigReader, place: string, given: unknown): Entry {
  const entry = reader.object(place, given, ENTRY_KEYS)
  const { can_transfer_to: edges } = entry
  const code = reader.code(`${place}.agent_code`, entry.agent_code)
  return Object.freeze({
    code,
    toolName: toolNameOf(code, 'transfer_to_'),
    description: reader.text(`${place}.description`, entry.description, WHY),
    canTransferTo: isAbsent(edges)
      ? undefined
      : reader
          .list(`${place}.can_transfer_to`, edges, 'codes of other entries', true)
          .map((edge, index) => reader.code(`${place}.can_transfer_to[${index}]`, edge)),
  })
}

/** Every edge leads to another entry. */
function checkTargets(reader: ConfigReader, entries: readonly Entry[]): void {
  const known = new Set(entries.map(({ code }) => code))
  for (const [index, { code, canTransferTo = [] }] of entries.entries()) {
    const place = `handoff_agents[${index}].can_transfer_to`
    reader.once(place, canTransferTo)
    for (const edge of canTransferTo) {
      if (edge === '') continue
      if (edge === code) reader.faults.add(place, 'names the agent itself')
      else if (!known.has(edge)) reader.faults.add(place, `names ${shown(edge)}, which is no entry of handoff_agents`)
    }
  }
}

function permitted(entries: readonly Entry[], entry: Entry | undefined, code: string): Target[] {
  const edges = entry?.canTransferTo
  return entries.filter((target) => target.code !== code && (edges === undefined || edges.includes(target.code)))
}
