import type { ToolEffect } from '@sluice/core'
import type { ConfigReader, Given } from '../orchestration/config-reader.js'
import { isAbsent, isObject } from '../orchestration/config-reader.js'
import type { HistoryManagement } from '../orchestration/history-management.js'
import { readHistoryManagement } from '../orchestration/history-management.js'
import { toolNameOf } from '../orchestration/tool-name.js'

/** One delegate of an orchestrator. */
export interface Delegate {
  readonly code: string
  /** The name of its tool. */
  readonly toolName: string
  readonly effect: ToolEffect
  readonly dropsLabels: boolean
}

/** The configuration of an orchestrator as a run works with it. */
export interface OrchestratorConfig {
  readonly profile: { readonly code: string; readonly version?: number }
  readonly delegates: readonly Delegate[]
  readonly maxDelegations: number | undefined
  readonly extraToolTags: readonly string[]
  readonly history: HistoryManagement
}

const KEYS = [
  ...['pattern_type', 'orchestrator_profile_code', 'orchestrator_profile_version', 'delegate_agents'],
  ...['max_delegations', 'extra_tool_tags', 'history_management'],
]
const EFFECTS: readonly ToolEffect[] = ['read', 'write', 'send']

/** Reads the configuration of the orchestrator `own`. */
export function readOrchestratorConfig(given: Given, reader: ConfigReader, own: string): OrchestratorConfig {
  reader.faults.addUnknown('orchestration_config', given, KEYS)
  const version = reader.count('orchestrator_profile_version', given.orchestrator_profile_version, 1)
  const profile = reader.code('orchestrator_profile_code', given.orchestrator_profile_code, 'a prompt profile')
  const delegates = reader
    .list('delegate_agents', given.delegate_agents, 'codes of agents')
    .map((one, index) => readDelegate(reader, `delegate_agents[${index}]`, one))
  reader.once(
    'delegate_agents',
    delegates.map(({ code }) => code),
  )
  const named = delegates.filter(({ code }) => code !== '')
  if (new Set(named.map(({ code }) => code)).size === named.length)
    reader.once(
      'names of the tools of delegate_agents',
      named.map(({ toolName }) => toolName),
    )
  if (delegates.some(({ code }) => code === own))
    reader.faults.add('delegate_agents', 'names the agent itself, which would call itself without end')
  return Object.freeze({
    profile: version === undefined ? { code: profile } : { code: profile, version },
    delegates: Object.freeze(delegates),
    maxDelegations: reader.count('max_delegations', given.max_delegations, 0),
    extraToolTags: isAbsent(given.extra_tool_tags)
      ? []
      : reader
          .list('extra_tool_tags', given.extra_tool_tags, 'tags', true)
          .map((tag, index) => reader.text(`extra_tool_tags[${index}]`, tag, 'the tag of a tool')),
    history: readHistoryManagement(reader, given.history_management),
  })
}

function readDelegate(reader: ConfigReader, place: string, given: unknown): Delegate {
  const entry = isObject(given) ? reader.object(place, given, ['agent_code', 'effect', 'drops_labels']) : undefined
  const code = entry === undefined ? reader.code(place, given) : reader.code(`${place}.agent_code`, entry.agent_code)
  const dropsLabels = entry?.drops_labels
  if (!isAbsent(dropsLabels) && typeof dropsLabels !== 'boolean')
    reader.faults.add(`${place}.drops_labels`, 'must be true or false')
  return Object.freeze({
    code,
    toolName: toolNameOf(code),
    effect: reader.oneOf(`${place}.effect`, entry?.effect, EFFECTS) ?? 'send',
    dropsLabels: dropsLabels === true,
  })
}
