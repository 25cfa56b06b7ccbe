import type { ResolvedCaller } from '../context/caller.js'
import { deepFreeze } from '../internal/deep-freeze.js'
import { digest } from '../internal/digest.js'
import type { JsonObject, JsonValue } from '../internal/json.js'
import { AskingContext } from './asking-context.js'
import type { AskingState, EffectFacts } from './asking-context.js'
import type { GatePoint } from './hook-points.js'

/** The facts that every hook point shares. */
export type BenchFacts = Partial<EffectFacts> & { readonly rootExecutionId: string }

const ROOT = '01940000-0000-7000-8000-000000000000'
const TOOL = { effect: 'send', untrusted: false, cost: null, definitionDigest: '', agent: null } as const

/** What each point is told besides the common facts, where a test says nothing. */
const DEFAULTS: Readonly<Record<GatePoint, JsonObject>> = {
  beforeExecution: { runContext: {} },
  beforeModelCall: {
    provider: 'scripted',
    model: 'test',
    round: 1,
    maxOutputTokens: 8192,
    inputTokensAtMost: 1000,
    tools: [],
    hostedTools: [],
    landing: false,
  },
  whileInFlight: { effect: 'model_call', provider: 'scripted', model: 'test', toolCode: null, elapsedMs: 1000 },
  inspectReply: { provider: 'scripted', model: 'test', text: 'Done.', finishReason: 'stop', toolCalls: [] },
  beforeToolCall: { toolCode: 'test_tool', callId: 'call_1', tool: TOOL },
  inspectToolInput: { toolCode: 'test_tool', callId: 'call_1', tool: TOOL, args: {}, gatePlugins: [] },
}

class BenchContext extends AskingContext {
  constructor(facts: EffectFacts, state: AskingState, fields: object) {
    super(facts, state)
    Object.assign(this, fields)
    Object.freeze(this)
  }
}

/** The effect that a gate point guards: gates of one model call or tool call share it. */
const EFFECTS: Readonly<Record<GatePoint, string>> = {
  beforeExecution: 'run',
  beforeModelCall: 'model',
  whileInFlight: 'model',
  inspectReply: 'model',
  beforeToolCall: 'tool',
  inspectToolInput: 'tool',
}

/** The frozen context of one asking: what the test gives, then defaults. */
export function benchGateContext(
  point: GatePoint,
  input: object,
  caller: ResolvedCaller,
  state: AskingState,
): AskingContext {
  const given = copyDefined(input)
  const facts = commonFacts(given, caller, EFFECTS[point])
  const fields: Record<string, unknown> = { ...DEFAULTS[point], ...given }
  if (point === 'inspectToolInput') fields.argsDigest ??= digest(fields.args as JsonValue)
  for (const name of Object.keys(facts)) delete fields[name]
  return new BenchContext(facts, state, deepFreeze(fields))
}

/** The frozen context of a closing observer: with a signal, as in a run. */
export function benchClosingContext(input: object, caller: ResolvedCaller, state: AskingState): AskingContext {
  const given = copyDefined(input)
  const facts = commonFacts(given, caller, 'run')
  for (const name of Object.keys(facts)) delete given[name]
  return new BenchContext(facts, state, deepFreeze(given))
}

/** The frozen context of another telling. */
export function benchObserverContext<Fields extends object>(
  input: Fields,
  caller: ResolvedCaller,
): Fields & EffectFacts {
  const given = copyDefined(input)
  return deepFreeze({ ...given, ...commonFacts(given, caller, 'run') }) as Fields & EffectFacts
}

/** A copy without the keys that are `undefined`, and detached from what the test keeps. */
function copyDefined(input: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(input)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [key, structuredClone(value) as unknown]),
  )
}

function commonFacts(given: Readonly<Record<string, unknown>>, caller: ResolvedCaller, effect: string): EffectFacts {
  const rootExecutionId = (given.rootExecutionId as string | undefined) ?? ROOT
  const defaults: EffectFacts = {
    effectId: `${rootExecutionId}/${effect}`,
    attempt: 1,
    executionId: effect === 'run' ? null : rootExecutionId,
    rootExecutionId,
    parentExecutionId: null,
    requestId: null,
    depth: 0,
    tenant: caller.tenant,
    labels: [],
    agentId: 'agent',
    agentCode: 'agent',
    createdBy: caller.createdBy,
    sessionId: 'session',
    appId: caller.appId,
  }
  const entries = Object.entries(defaults).map(([name, value]) => [name, name in given ? given[name] : value])
  return deepFreeze(Object.fromEntries(entries) as EffectFacts)
}
