import type { GateAnswer, GateReceipt, Receipt, RunEvent, ToolStatus } from '@sluice/core'
import type { MatcherState } from 'vitest'
import type { ExpectedVeto } from '../gates/expect-veto.js'
import { checkNames } from '../check-names.js'
import { checkExpected, compareVeto, describe, findVeto, wanted } from '../gates/expect-veto.js'
import { calledTools, wasCalled } from './called-tools.js'

/** What a receipt has to show; what is left out may be anything. */
export interface ExpectedReceipt
  extends Partial<Pick<Receipt, 'effect' | 'subject' | 'outcome' | 'sent' | 'attempt' | 'effectId'>> {
  /** The last answer of a plugin in this effect, by plugin. */
  readonly answers?: Readonly<Record<string, GateAnswer>>
}

/** What a paused run has to wait for; what is left out may be anything. */
export interface ExpectedPause {
  readonly code?: string
  readonly plugin?: string
  readonly toolCode?: string
}

interface Verdict {
  readonly pass: boolean
  readonly message: () => string
}

const verdict = (pass: boolean, expected: string, actual: string): Verdict => ({
  pass,
  message: () => (pass ? `${expected} not to be so, but it is` : `${expected}, but ${actual}`),
})

/** Matchers for vitest: `expect.extend(sluiceMatchers)`, in a setup file or at the top of a test file. */
export const sluiceMatchers = {
  /** A run, a gate result, an error or a function that vetoes. Give it the promise itself, and await it. */
  toBeVetoed(received: unknown, expected: ExpectedVeto = {}): Verdict | Promise<Verdict> {
    checkExpected('toBeVetoed', expected)
    return findVeto(received).then((found) => {
      if (typeof found === 'string') return verdict(false, wanted(expected), found)
      if ('other' in found) return verdict(false, wanted(expected), describe(found.other))
      const difference = compareVeto(found.veto, expected)
      return verdict(difference === undefined, wanted(expected), difference ?? '')
    })
  },

  /** A run that waits for a human, or a gate that paused. */
  toBePaused(received: unknown, expected: ExpectedPause = {}): Verdict {
    checkNames('What toBePaused expects', expected, ['code', 'plugin', 'toolCode'])
    const run = (received ?? {}) as {
      readonly status?: unknown
      readonly answer?: unknown
      readonly pending?: unknown
      readonly code?: unknown
    }
    const wish = `Expected a pause${expected.code === undefined ? '' : ` ${expected.code}`}`
    if (run.answer === 'paused')
      return verdict(expected.code === undefined || run.code === expected.code, wish, `the code is ${String(run.code)}`)
    if (run.status !== 'paused') return verdict(false, wish, `the status is ${String(run.status ?? run.answer)}`)
    const pending = (Array.isArray(run.pending) ? run.pending : []) as readonly ExpectedPause[]
    const fits = pending.some((each) =>
      (['code', 'plugin', 'toolCode'] as const).every(
        (name) => expected[name] === undefined || each[name] === expected[name],
      ),
    )
    const list = pending.map((each) => `${each.toolCode} (${each.code} by ${each.plugin})`).join(', ')
    return verdict(fits, wish, `these wait: ${list}`)
  },

  /** A run, or an error that left one, in which a tool was called: with such arguments, with such an outcome. */
  toHaveCalledTool(
    this: MatcherState,
    received: unknown,
    toolCode: string,
    args?: unknown,
    status?: ToolStatus,
  ): Verdict {
    const calls = calledTools(received).filter((call) =>
      status === undefined ? wasCalled(call) : call.status === status,
    )
    const fits = calls.some(
      (call) =>
        call.toolCode === toolCode &&
        (args === undefined || this.equals(call.args, args, [...this.customTesters, this.utils.subsetEquality])),
    )
    const wish = `Expected a call of ${toolCode}${args === undefined ? '' : ` with ${JSON.stringify(args)}`}`
    const list = calls.map((call) => `${call.toolCode} ${JSON.stringify(call.args)}`).join(', ')
    return verdict(fits, wish, list === '' ? 'no tool was called' : `these were called: ${list}`)
  },

  /** A run in which these tools were called in this order, with any others between. */
  toHaveCalledToolsInOrder(received: unknown, toolCodes: readonly string[]): Verdict {
    const called = calledTools(received)
      .filter(wasCalled)
      .map((call) => call.toolCode)
    let next = 0
    for (const code of called) if (code === toolCodes[next]) next += 1
    return verdict(
      next === toolCodes.length,
      `Expected calls of ${toolCodes.join(', ')} in this order`,
      `the calls were ${called.join(', ') || 'none'}`,
    )
  },

  /** A receipt, or a list of them in which one fits. */
  toHaveReceipt(received: unknown, expected: ExpectedReceipt): Verdict {
    const receipts = (Array.isArray(received) ? received : [received]) as readonly Receipt[]
    const { answers, ...fields } = expected
    const fits = receipts.some(
      (receipt) =>
        Object.entries(fields).every(
          ([name, value]) => value === undefined || receipt?.[name as keyof Receipt] === value,
        ) && Object.entries(answers ?? {}).every(([plugin, answer]) => lastAnswer(receipt, plugin) === answer),
    )
    const list = receipts.map((receipt) => `  ${describeReceipt(receipt)}`).join('\n')
    return verdict(
      fits,
      `Expected a receipt ${JSON.stringify(expected)}`,
      list === '' ? 'there is none' : `there are:\n${list}`,
    )
  },

  /** A list of events in which one has this type and such data. */
  toHaveEmitted(this: MatcherState, received: unknown, type: RunEvent['type'], data?: unknown): Verdict {
    const events = (Array.isArray(received) ? received : []) as readonly RunEvent[]
    const fits = events.some(
      (event) =>
        event.type === type &&
        (data === undefined || this.equals(event.data, data, [...this.customTesters, this.utils.subsetEquality])),
    )
    const wish = `Expected an event ${type}${data === undefined ? '' : ` with ${JSON.stringify(data)}`}`
    return verdict(fits, wish, `the events were ${events.map((event) => event.type).join(', ') || 'none'}`)
  },
}

function lastAnswer(receipt: Receipt | undefined, plugin: string): GateAnswer | undefined {
  return receipt?.askings.flatMap((asking) => asking.gates.filter((gate) => gate.plugin === plugin)).at(-1)?.answer
}

function describeReceipt(receipt: Receipt | undefined): string {
  if (receipt === undefined || !Array.isArray(receipt.askings)) return 'something that is no receipt'
  const gates = receipt.askings.flatMap((asking) =>
    asking.gates.map((gate: GateReceipt) => `${gate.plugin} ${gate.answer}`),
  )
  return `${receipt.effect} ${receipt.subject ?? ''} #${receipt.attempt}: ${receipt.outcome}, sent ${receipt.sent} (${gates.join(', ') || 'no gate stood there'})`
}
