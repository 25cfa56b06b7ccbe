import type { CommonContext, GateInput, GatePoint } from '@sluice/core'

type Names<Keys extends PropertyKey> = Readonly<Record<Keys, true>>

const COMMON: Names<Exclude<keyof CommonContext, 'signal' | 'answers'>> = {
  effectId: true,
  attempt: true,
  executionId: true,
  rootExecutionId: true,
  parentExecutionId: true,
  requestId: true,
  depth: true,
  tenant: true,
  labels: true,
}
const AGENT = { ...COMMON, agentId: true, agentCode: true, createdBy: true, sessionId: true, appId: true } as const
const TOOL = { ...AGENT, toolCode: true, callId: true, tool: true } as const

/** The facts of each gate point. The type holds the list complete. */
const NAMES: { readonly [Point in GatePoint]: Names<keyof GateInput<Point>> } = {
  beforeExecution: { ...AGENT, runContext: true },
  beforeModelCall: {
    ...AGENT,
    provider: true,
    model: true,
    round: true,
    maxOutputTokens: true,
    inputTokensAtMost: true,
    tools: true,
    hostedTools: true,
    landing: true,
  },
  whileInFlight: { ...AGENT, effect: true, provider: true, model: true, toolCode: true, elapsedMs: true },
  inspectReply: {
    ...AGENT,
    provider: true,
    model: true,
    text: true,
    output: true,
    finishReason: true,
    toolCalls: true,
  },
  beforeToolCall: TOOL,
  inspectToolInput: { ...TOOL, args: true, argsDigest: true, decision: true, gatePlugins: true },
}

/** The gate points that can be asked, in the order of the life of a run. */
export const GATE_POINTS: readonly string[] = Object.freeze(Object.keys(NAMES))

/** Names of the facts that a gate point is told. */
export function factNames(point: GatePoint): readonly string[] {
  return Object.keys(NAMES[point])
}
