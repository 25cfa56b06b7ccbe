import type { Act, Via } from './acts.js'
import type { CallShape, Composition, Point } from './composition.js'
import { TIMES } from './composition.js'

/** A point that is asked: a gate, or `authorize` of a tool. */
type AskPoint = Point | 'authorize'

/** One that is asked at a point. */
export interface Tap {
  readonly id: string
  readonly plugin: string
  readonly point: AskPoint
  readonly via: Via
  readonly stage: number
  readonly timeoutMs: number
  readonly acts: readonly Act[]
  readonly shadow: boolean
}

/** What each point takes besides a veto. */
export const TAKES: Readonly<Record<AskPoint, readonly string[]>> = {
  beforeExecution: ['Wait'],
  beforeModelCall: ['Wait', 'Land'],
  whileInFlight: [],
  inspectReply: ['Refusal'],
  beforeToolCall: ['Refusal', 'Wait'],
  inspectToolInput: ['Refusal', 'Wait', 'Pause'],
  authorize: ['Refusal'],
}

/** How receipts and stops name what was thrown. */
export const WORDS = {
  Veto: 'vetoed',
  Refusal: 'refused',
  Pause: 'paused',
  Wait: 'waited',
  Land: 'landed',
} as const

/** Anything but a pass. */
export interface Answer {
  readonly word: (typeof WORDS)[keyof typeof WORDS] | 'failed' | 'timed_out' | 'aborted'
  readonly code: string
  readonly plugin: string
  readonly point: string
  readonly waitMs: number
}

/** All taps of a composition, in the order of registration. */
export function tapsOf(shape: Composition): readonly Tap[] {
  return shape.plugins.flatMap((plugin, place) =>
    plugin.gates.map((gate, number) => ({
      ...gate,
      id: `p${place}.${number}`,
      plugin: `${plugin.shadow ? 'shadow:' : ''}p${place}`,
      shadow: plugin.shadow,
    })),
  )
}

/** What `authorize` of the tool at this place of the round is asked as; empty where it has none. */
export function authorizeTap(shape: CallShape, place: number): readonly Tap[] {
  if (shape.authorize.length === 0) return []
  const plugin = `tool:t${place + 1}`
  return [
    {
      id: plugin,
      plugin,
      point: 'authorize',
      via: 'tap',
      stage: 0,
      timeoutMs: TIMES.authorizeTimeoutMs,
      acts: shape.authorize,
      shadow: false,
    },
  ]
}
