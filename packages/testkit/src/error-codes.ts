/** One row of the table of codes. */
export interface TestkitErrorRow {
  readonly meaning: string
  readonly remedy: string
}

const row = (meaning: string, remedy: string): TestkitErrorRow => ({ meaning, remedy })

/** Every code that `@sluice/testkit` raises. Each error is a `SluiceError` of core. */
export const TESTKIT_ERROR_CODES = {
  SCRIPT_INVALID: row(
    'A script holds something that is not a step.',
    'Build steps with reply, providerError, hang, on.',
  ),
  SCRIPT_EXHAUSTED: row('The scripted provider was called once more than the script has replies.', 'Add a reply.'),
  SCRIPT_LEFT_OVER: row(
    'A script has replies that nobody asked for.',
    'Remove them, or find the call that is missing.',
  ),
  FIXTURE_INVALID: row('A fixture is not in the format of `replay`.', 'Mend the paths that the message lists.'),
  FIXTURE_NOT_FOUND: row('No fixture of that name is shipped.', 'Use a name of the list, an object or a file URL.'),
  REPLAY_MISS: row(
    'A request fits no exchange of the fixture; nothing was sent.',
    'Compare with the nearest exchange.',
  ),
  REPLAY_LEFT_OVER: row('A fixture has exchanges that nobody asked for.', 'Remove them, or mark them optional.'),
  REPLAY_OFF: row('nock is switched off by NOCK_OFF, so requests would really go out.', 'Unset NOCK_OFF.'),
  REPLAY_ACTIVE: row('Another replay is active; nock is process-wide.', 'End it with done() or restore() first.'),
  OPTION_UNKNOWN: row(
    'An option or a fact is not known, and would have been ignored.',
    'Use one that the message lists.',
  ),
  GATE_UNKNOWN: row('That is no gate point.', 'Use one of the gate points that the message lists.'),
  GATE_NOT_TAPPED: row('The plugin has no tap at this gate point.', 'Ask a point that it taps.'),
  FAILURE_UNKNOWN: row(
    'A plugin or a store was asked to fail in a way that is not known there.',
    'Use one that the message or FAILURES lists.',
  ),
  ORDER_DIFFERS: row('Hooks and events did not come in the expected order.', 'Compare with the timeline.'),
  NOT_VETOED: row('A veto was expected and something else happened.', 'Look at what happened instead.'),
  CLOCK_INVALID: row('Time can only move forward by a finite number of milliseconds.', 'Mend the argument.'),
  CLOCK_STUCK: row(
    'A promise did not settle and no timer is left.',
    'Look for something that waits without the clock.',
  ),
} as const satisfies Record<string, TestkitErrorRow>

/** The codes of {@link TESTKIT_ERROR_CODES}. */
export type TestkitErrorCode = keyof typeof TESTKIT_ERROR_CODES
