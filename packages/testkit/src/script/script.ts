import type { ModelRequest } from '@sluice/core'
import { testkitError } from '../testkit-error.js'
import type { ScriptStep } from './script-step.js'
import { describeStep, isScriptStep, quote } from './script-step.js'

/** Steps for the calls whose last user message fits. Build one with {@link on}. */
export interface ScriptRule {
  readonly kind: 'rule'
  readonly pattern: UserPattern
  readonly steps: readonly ScriptStep[]
}

/** A text that the last user message includes, an expression that it fits, or a test of the whole request. */
export type UserPattern = string | RegExp | ((request: ModelRequest) => boolean)

/**
 * What a scripted provider answers: a list of steps, one per call in the order of the calls; a list of rules, chosen by the
 * last user message, each with steps of its own; or one function that answers every call.
 */
export type Script =
  | readonly ScriptStep[]
  | readonly ScriptRule[]
  | ((request: ModelRequest) => ScriptStep | PromiseLike<ScriptStep>)

/** A rule of a script: `on('approve INV-1002', reply.toolCall(...), reply('Done.'))`. The first rule that fits and has steps left answers. */
export function on(pattern: UserPattern, ...steps: readonly ScriptStep[]): ScriptRule {
  return { kind: 'rule', pattern, steps }
}

/** The steps of a script that have not been played yet. */
export interface ScriptQueue {
  /** Takes the step for this request; `undefined` where none is left for it. */
  take(request: ModelRequest): ScriptStep | undefined
  /** One line per step that is left over. */
  leftOver(): readonly string[]
  /** One line about the script, for messages. */
  readonly summary: string
}

/** @throws SCRIPT_INVALID naming every entry that is no step */
export function createScriptQueue(script: Script): ScriptQueue {
  if (typeof script === 'function') {
    return { take: () => script, leftOver: () => [], summary: 'a function' }
  }
  const rules = toRules(script)
  const queues = rules.map((rule) => ({ pattern: rule.pattern, steps: [...rule.steps] }))
  const total = rules.reduce((sum, rule) => sum + rule.steps.length, 0)
  return {
    take(request) {
      for (const { pattern, steps } of queues) {
        const step = steps[0]
        if (step === undefined || !fits(pattern, request)) continue
        if (!isRepeated(step)) {
          steps.shift()
          return step
        }
        return step.step
      }
      return undefined
    },
    leftOver: () =>
      queues.flatMap(({ pattern, steps }) =>
        steps.filter((step) => !isRepeated(step)).map((step) => `${describePattern(pattern)}${describeStep(step)}`),
      ),
    summary: `${total} ${total === 1 ? 'reply' : 'replies'}${rules.length > 1 ? ` in ${rules.length} rules` : ''}`,
  }
}

function isRepeated(step: ScriptStep): step is Extract<ScriptStep, { kind: 'repeat' }> {
  return typeof step === 'object' && step.kind === 'repeat'
}

function isRule(value: unknown): value is ScriptRule {
  return value !== null && typeof value === 'object' && (value as { kind?: unknown }).kind === 'rule'
}

const ALWAYS = () => true

function toRules(script: unknown): readonly ScriptRule[] {
  const faults: string[] = []
  if (!Array.isArray(script)) {
    throw testkitError('SCRIPT_INVALID', `The script is ${describeValue(script)}, not a list of steps or a function.`)
  }
  const check = (steps: readonly unknown[], path: string) => {
    for (const [index, step] of steps.entries()) {
      if (!isScriptStep(step)) faults.push(`${path}[${index}] is ${describeValue(step)}, not a step`)
    }
  }
  const rules: readonly ScriptRule[] = script.filter(isRule)
  if (rules.length === 0) check(script, 'script')
  else if (rules.length < script.length) faults.push('the script mixes rules and steps')
  for (const [index, rule] of rules.entries()) check(rule.steps, `script[${index}].steps`)
  if (faults.length > 0) throw testkitError('SCRIPT_INVALID', `The script cannot be played: ${faults.join('; ')}.`)
  return rules.length > 0 ? rules : [{ kind: 'rule', pattern: ALWAYS, steps: script as readonly ScriptStep[] }]
}

function describeValue(value: unknown): string {
  return Array.isArray(value)
    ? 'a list'
    : value === null
      ? 'null'
      : value === undefined
        ? 'absent'
        : `of type ${typeof value}`
}

function describePattern(pattern: UserPattern): string {
  if (pattern === ALWAYS) return ''
  return `on ${typeof pattern === 'string' ? quote(pattern) : typeof pattern === 'function' ? 'a function' : String(pattern)}: `
}

function fits(pattern: UserPattern, request: ModelRequest): boolean {
  if (typeof pattern === 'function') return pattern(request)
  const text = lastUserText(request)
  if (text === undefined) return false
  if (typeof pattern === 'string') return text.includes(pattern)
  pattern.lastIndex = 0
  return pattern.test(text)
}

/** The text of the last user message, its parts joined by newlines; `undefined` without one. */
export function lastUserText(request: ModelRequest): string | undefined {
  for (let index = request.messages.length - 1; index >= 0; index--) {
    const message = request.messages[index]
    if (message?.role !== 'user') continue
    return message.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  }
  return undefined
}
