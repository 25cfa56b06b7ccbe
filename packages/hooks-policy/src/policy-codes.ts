/** One row of the table of codes of this package. */
export interface PolicyCodeRow {
  /** What the gate answers with: the kind decides what follows for the run. */
  readonly answer: 'Veto' | 'Refusal' | 'Pause'
  readonly meaning: string
  readonly remedy: string
}

const row = (answer: PolicyCodeRow['answer'], meaning: string, remedy: string): PolicyCodeRow => ({
  answer,
  meaning,
  remedy,
})

/** Every code that the gates of this package answer with. Codes are never renamed. */
export const POLICY_CODES = Object.freeze({
  CONTEXT_REQUIRED: row('Veto', 'The run context lacks a key that a rule needs.', 'Give it in `runContext`.'),
  CALLS_EXCEEDED: row(
    'Veto',
    'A tool was asked for more often than its rule lets it.',
    'Raise `max`, or look why the model repeats the call.',
  ),
  TOOL_NOT_ALLOWED: row('Veto', 'A tool is not on the list of those that may run.', 'Add it to `allowTools`.'),
  TOOL_DENIED: row('Veto', 'A tool is on the list of those that may not run.', 'Take it out of `denyTools`.'),
  VALUE_RULE: row('Veto', 'The arguments of a tool call break a rule.', 'See the reason, which the check gave.'),
  SCOPE_UNRESOLVED: row(
    'Veto',
    'A rule counts per session or call, and there is none.',
    'Count per run there, or leave plain calls out with `standalone`.',
  ),
  KILL_SWITCH_ON: row(
    'Veto',
    'An operator switched this off; `details` says what, who, why and until when.',
    'Wait, or ask who did it.',
  ),
  KILL_SWITCH_UNREADABLE: row(
    'Veto',
    'The switch could not be read in time, or what stands there is no row of it.',
    'Look at the store.',
  ),
  APPROVAL_REQUIRED: row('Pause', 'A human has to decide about this call.', 'Answer with `runtime.decide`.'),
  APPROVAL_DECIDER: row(
    'Pause',
    'The one who decided may not decide about this call; another one has to.',
    'Have somebody else answer.',
  ),
  DENIED: row('Refusal', 'A human said no; the model reads the note.', 'Nothing.'),
  APPROVAL_EXPIRED: row(
    'Refusal',
    'The time of an approval is over before the call ran; the model reads so.',
    'Start the run again, or raise `expiresIn`.',
  ),
  APPROVAL_ALTERED: row(
    'Veto',
    'What was approved is not what is about to run; `details.differs` names what.',
    'Start the run again.',
  ),
  APPROVAL_FORGED: row(
    'Veto',
    'A record of an approval was not written by this plugin, or is gone.',
    'Look who writes to the store.',
  ),
  APPROVAL_REPLAYED: row(
    'Veto',
    'An approval that was used is used again.',
    'Nothing: one approval is for one execution of one call.',
  ),
  APPROVAL_LIMIT: row(
    'Veto',
    'One run asked humans more often than `maxAsks`.',
    'Raise `maxAsks`, or look why the model asks so often.',
  ),
  EXFILTRATION: row(
    'Veto',
    'Untrusted text is in the request that asked for a tool which can carry data out; or a human is asked.',
    'See `details.labels` for its sources; exempt the tool or the source where that is sound.',
  ),
  LINK_NOT_ALLOWED: row(
    'Refusal',
    'A reply holds a link to a host that is not on the list.',
    'Add the host to `hosts`; the model is asked once more.',
  ),
}) satisfies Readonly<Record<string, PolicyCodeRow>>

/** The codes of {@link POLICY_CODES}. */
export type PolicyCode = keyof typeof POLICY_CODES
