import type {
  BenchAnswer,
  BenchPlace,
  GateInput,
  GatePoint,
  HookBench,
  HookPoint,
  ObserverInput,
  ObserverPoint,
  Receipt,
  Usage,
} from '@sluice/core'
import { GATE_ANSWERS } from '@sluice/core'

/** Facts that a plugin is told in its life, by point; what is left out gets a plain default. */
export type LifeFacts = { readonly [Point in GatePoint]?: GateInput<Point> }

/** A situation in which a plugin is asked. */
export interface Situation extends Omit<BenchPlace, 'signal'> {
  readonly facts?: LifeFacts
}

/** One hook point of a run, with what it is told. */
export interface LifeStep {
  readonly point: HookPoint
  readonly input: object
}

/** What came of one step: the answer of a gate, the next prompt, or nothing of an observer. */
export interface StepOutcome {
  readonly point: HookPoint
  readonly answer?: string
  readonly code?: string | undefined
  readonly message?: string | undefined
  readonly prompt?: string | undefined
}

const USAGE: Usage = {
  inputTokens: 120,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 30,
  reasoningTokens: 0,
  unreportedCalls: 0,
}
const TOOL = { effect: 'write', untrusted: false, cost: null, definitionDigest: 'digest', agent: null } as const

/** True for the points that are asked, not told. */
export function isGate(point: HookPoint): point is GatePoint {
  return Object.hasOwn(GATE_ANSWERS, point)
}

/**
 * The hook points of one run, in order: two rounds, one tool. Everything that is told fits together, as in a real run.
 */
export function lifeOf(rootExecutionId: string, situation: Situation): readonly LifeStep[] {
  const common = {
    rootExecutionId,
    executionId: rootExecutionId,
    sessionId: 'session',
    agentId: 'agent-1',
    agentCode: 'agent',
  }
  const model = { ...common, provider: 'scripted', model: 'test', maxOutputTokens: 1024, inputTokensAtMost: 2000 }
  const tool = { ...common, toolCode: 'write_note', callId: 'call_1', tool: TOOL }
  const round = (number: number, toolCalls: readonly string[]): LifeStep[] => {
    const effectId = `${rootExecutionId}/${number}/model`
    const facts = { ...model, effectId, round: number }
    return [
      { point: 'beforeModelCall', input: facts },
      { point: 'whileInFlight', input: { ...facts, effect: 'model_call', elapsedMs: 1000 } },
      {
        point: 'inspectReply',
        input: { ...facts, text: 'A text.', finishReason: toolCalls.length > 0 ? 'tool_calls' : 'stop', toolCalls },
      },
      {
        point: 'afterModelCall',
        input: closing('model_call', {
          ...facts,
          answeredModel: 'test',
          usage: USAGE,
          reportedUsd: null,
          finishReason: 'stop',
          rateLimit: null,
        }),
      },
    ]
  }
  const toolEffect = { ...tool, effectId: `${rootExecutionId}/1/tool` }
  const steps: readonly LifeStep[] = [
    { point: 'beforeExecution', input: { ...common, executionId: null, effectId: `${rootExecutionId}/run` } },
    { point: 'augmentSystemPrompt', input: common },
    ...round(1, ['write_note']),
    { point: 'beforeToolCall', input: toolEffect },
    { point: 'inspectToolInput', input: { ...toolEffect, args: { text: 'A note.' } } },
    {
      point: 'afterToolCall',
      input: closing('tool_call', {
        ...toolEffect,
        argsDigest: 'digest',
        resultDigest: 'digest',
        errorReference: null,
      }),
    },
    ...round(2, []),
    {
      point: 'afterExecution',
      input: {
        ...common,
        effectId: `${rootExecutionId}/run`,
        status: 'completed',
        inputTokens: 240,
        outputTokens: 60,
        usage: USAGE,
        treeUsage: USAGE,
        failure: null,
        recovered: false,
        receipt: null,
      },
    },
  ]
  return steps.map((step) =>
    isGate(step.point) ? { ...step, input: { ...step.input, ...situation.facts?.[step.point] } } : step,
  )
}

function closing<Facts extends { readonly rootExecutionId: string; readonly effectId: string }>(
  effect: Receipt['effect'],
  facts: Facts,
): object {
  const receipt: Receipt = {
    effect,
    effectId: facts.effectId,
    attempt: 1,
    rootExecutionId: facts.rootExecutionId,
    executionId: facts.rootExecutionId,
    agentCode: 'agent',
    subject: null,
    at: 0,
    askings: [],
    outcome: 'ok',
    sent: 'yes',
    tenant: null,
  }
  return { ...facts, attempt: 1, outcome: 'ok', sent: 'yes', durationMs: 12, error: null, receipt }
}

/** Asks or tells one step on a bench. */
export async function playStep(bench: HookBench, step: LifeStep, situation: Situation): Promise<StepOutcome> {
  const { point } = step
  if (isGate(point)) return toOutcome(point, await bench.ask(point, step.input as GateInput<GatePoint>, situation))
  if (point === 'augmentSystemPrompt') {
    const prompt = await bench.augment('You are helpful.', step.input as never, situation)
    return { point, prompt }
  }
  await bench.tell(point as ObserverPoint, step.input as ObserverInput<ObserverPoint>, situation)
  return { point }
}

function toOutcome(point: GatePoint, answer: BenchAnswer): StepOutcome {
  return { point, answer: answer.answer, code: answer.error?.code, message: answer.error?.message }
}

/** The steps of a life that a plugin taps. */
export function tappedSteps(bench: HookBench, life: readonly LifeStep[]): readonly LifeStep[] {
  return life.filter((step) => bench.points.includes(step.point))
}
