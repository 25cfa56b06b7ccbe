import type { RunEvent, ToolStatus } from '@sluice/core'
import type { TestContext } from 'vitest'
import { onTestFinished } from 'vitest'
import type { ExpectedVeto } from './gates/expect-veto.js'
import type { ExpectedPause, ExpectedReceipt } from './matchers/sluice-matchers.js'
import type { FixtureSource } from './replay/load-fixture.js'
import type { Replay, ReplayOptions } from './replay/replay.js'
import { replay as startReplay } from './replay/replay.js'
import type { Script } from './script/script.js'
import type { ScriptedProvider, ScriptedProviderOptions } from './script/scripted-provider.js'
import { scriptedProvider as makeProvider } from './script/scripted-provider.js'

export type { ExpectedPause, ExpectedReceipt } from './matchers/sluice-matchers.js'
export { sluiceMatchers } from './matchers/sluice-matchers.js'

/** The test that a script or a replay belongs to. Wanted in concurrent tests only, where vitest cannot tell which one is running. */
export interface OfTest {
  readonly test?: Pick<TestContext, 'onTestFinished'>
}

/**
 * As `scriptedProvider` of `@sluice/testkit`, and asserts by itself, when the test has passed, that the script was played to
 * its end. Call it inside a test.
 */
export function scriptedProvider(script: Script, options: ScriptedProviderOptions & OfTest = {}): ScriptedProvider {
  const { test, ...rest } = options
  const provider = makeProvider(script, rest)
  atEnd(test, (passed) => {
    if (passed) provider.assertDone()
  })
  return provider
}

/**
 * As `replay` of `@sluice/testkit`, and ends by itself with the test: with `done()` when it passed, else with `restore()`.
 * Call it inside a test.
 */
export function replay(source: FixtureSource, options: ReplayOptions & OfTest = {}): Replay {
  const { test, ...rest } = options
  const wire = startReplay(source, rest)
  atEnd(test, (passed) => (passed ? wire.done() : wire.restore()))
  return wire
}

/** A test that has failed already says more than what it left over. */
function atEnd(test: OfTest['test'], end: (passed: boolean) => void): void {
  const hook = test === undefined ? onTestFinished : test.onTestFinished.bind(test)
  hook(({ task }) => end(task.result?.state !== 'fail'))
}

type Asserted<Received> = Received extends PromiseLike<unknown> ? Promise<void> : void

declare module 'vitest' {
  interface Matchers<T> {
    /** A run, gate result, error or function that vetoes; another stop or failure does not count. Await it. */
    toBeVetoed(expected?: ExpectedVeto): Promise<void>
    /** A run that waits for a human, or a gate that paused. */
    toBePaused(expected?: ExpectedPause): Asserted<T>
    /** A run, or an error that left one, in which a tool was called: with such arguments, with such an outcome. */
    toHaveCalledTool(toolCode: string, args?: unknown, status?: ToolStatus): Asserted<T>
    /** A run in which these tools were called in this order, with any others between. */
    toHaveCalledToolsInOrder(toolCodes: readonly string[]): Asserted<T>
    /** A receipt, or a list of them in which one fits. */
    toHaveReceipt(expected: ExpectedReceipt): Asserted<T>
    /** A list of events in which one has this type and such data. */
    toHaveEmitted(type: RunEvent['type'], data?: unknown): Asserted<T>
  }
}
