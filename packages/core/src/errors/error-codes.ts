/** One row of the closed table of codes. */
export interface ErrorCodeRow {
  /** True where the same call may succeed later without a change. */
  readonly retryable: boolean
  readonly meaning: string
  readonly remedy: string
  /** The number of the original system, where it has one (docs only). */
  readonly original?: string
}

const row = (meaning: string, remedy: string, original?: string, retryable = false): ErrorCodeRow =>
  original === undefined ? { retryable, meaning, remedy } : { retryable, meaning, remedy, original }

/** Every code that `@sluice/core` raises. Codes are never renamed; the reference page is made from this table. */
export const ERROR_CODES = {
  // configuration and arguments
  INVALID_CONFIG: row(
    'A configuration, argument or state is not acceptable; `reason` tells which.',
    'Mend what the message names; all faults of one configuration are listed together.',
    '-20503',
  ),
  MISSING_CONFIG: row('A required setting is absent.', 'Set what the message names.', '-20502'),
  INVALID_STATUS: row(
    'A status is not one of draft, active, archived, or the change is not allowed.',
    'Use one of the listed ones.',
    '-20501',
  ),
  NOT_FOUND: row(
    'An agent, prompt profile, version, execution or session does not exist in this scope.',
    'Check the code and the scope; the message names near ones.',
    '-20500',
  ),
  DUPLICATE_NAME: row('Two things of one kind have the same name.', 'Rename one of them.'),
  HAS_HISTORY: row('An agent that has runs cannot be deleted.', 'Archive it, or purge it with its history.', '-2292'),
  HAS_REFERENCES: row(
    'Others refer to this definition.',
    'Change the definitions that the message lists first.',
    '-20505',
  ),
  MISSING_PLACEHOLDER: row(
    'A placeholder of a prompt has no value.',
    'Give the parameter, or bind it in the run context.',
    '-20506',
  ),
  UNKNOWN_AGENT_TYPE: row(
    'The type of an agent is not known to this runtime.',
    'Install the package that brings it.',
    '-20400',
  ),
  // run context, caller, scope
  RUN_CONTEXT_CONFLICT: row(
    'A bound key of the run context would change.',
    'Start another session to work on another subject.',
    '-20507',
  ),
  RUN_CONTEXT_MISSING: row(
    'The agent requires a key that the run context lacks.',
    'Bind it in `runContext`.',
    '-20426',
  ),
  SCOPE_UNRESOLVED: row('A rule is keyed by user, app or tenant and the caller has none.', 'Give it in `caller`.'),
  SESSION_FORBIDDEN: row(
    'The session does not exist for this tenant and user.',
    'Use a session that this caller opened, or leave `sessionId` out.',
  ),
  SESSION_BUSY: row(
    'Another turn of this session is running or paused.',
    'Wait for it, resume or cancel it, or set `sameSession: "queue"`.',
    undefined,
    true,
  ),
  // hooks
  HOOK_FAILED: row(
    'A gate threw something that is no answer, missed its deadline or returned a value.',
    'Mend the plugin; the original is the `cause`.',
  ),
  HOOKS_MISSING: row(
    'The runtime was given no plugins and found no hook file.',
    'Add sluice.hooks.mjs beside package.json, or say `plugins: []`.',
  ),
  HOOKS_BROKEN: row(
    'The set of plugins could not be built; the runtime is shut.',
    'Mend the plugin that the message names and call setHooks again.',
  ),
  HOOKS_SEALED: row('A tap was registered after `apply` had ended.', 'Register all taps inside `apply`.'),
  HOOKS_CHANGED: row(
    'A paused run stored other gate plugins than this runtime has.',
    'Bring the set back, or accept the change by name with `acceptHooks`.',
  ),
  HOOK_REGISTRATION: row('A tap or a plugin is not acceptable.', 'Mend what the message names.'),
  ROOT_UNKNOWN: row('The root folder of the application cannot be told.', 'Give `root` to createRuntime.'),
  GATE_REENTERED: row(
    'A gate called the runtime and reached the point it was asked at.',
    'Exclude that call in the gate, or use `runtime.detached`.',
  ),
  PAUSE_IN_HANDLER: row(
    'A gate paused below a handler of the user, which cannot be paused through.',
    'Start the nested run with `defineTool({ agent })`.',
  ),
  PAUSE_STANDALONE: row('A gate paused a call that is outside any run.', 'Run it as an agent.'),
  REFUSED_TWICE: row('A reply was refused twice in a row.', 'See the refusal of the plugin.'),
  LANDING_REFUSED: row(
    'The last reply of a run that was landing was refused, and a landing has no other.',
    'See the refusal of the plugin.',
  ),
  LANDED_TWICE: row(
    'A run that was landing was told to land again.',
    'Raise the limit of the plugin, or lower `landing.maxOutputTokens`.',
  ),
  // bounds
  MAX_TOOL_CALLS: row(
    'The bound of tool calls of one call was met.',
    'Raise `maxToolCalls`, or set `onToolLimit: "finish"`.',
    '-20301',
  ),
  MAX_NESTING_DEPTH: row('Runs are nested deeper than the bound.', 'Look for agents that call each other.', '-20405'),
  TREE_LIMIT: row(
    'A bound of the whole tree of runs was met; `details.limit` names it.',
    'Raise `limits`, or look for a loop.',
  ),
  LIMIT_EXCEEDED: row('A value is larger than its bound; `details` has both.', 'Make it smaller or raise the bound.'),
  BUSY: row(
    'Too many runs are in flight.',
    'Try again when one has ended, or raise `limits.runsInFlight`.',
    undefined,
    true,
  ),
  // life of a run
  RUN_ABORTED: row('The run was aborted or cancelled.', 'Nothing, when that was meant.'),
  RUN_TIMEOUT: row('The run took longer than its timeout.', 'Raise the timeout, or shorten the work.', undefined, true),
  RUN_OVER: row(
    'A call was made inside a run that has ended.',
    'Await all calls before the handler returns, or use `runtime.detached`.',
  ),
  RUN_CRASHED: row('The process that owned the run is gone.', 'Look at its record; start it again.'),
  RUNTIME_CLOSED: row('The runtime was closed.', 'Create another one.'),
  NOT_PAUSED: row('The execution is not paused.', 'Look at its status.'),
  ALREADY_DECIDED: row('Somebody has decided this already.', 'Nothing; the first decision stands.'),
  JOURNAL_MISMATCH: row(
    'The stored journal does not fit the code that replays it; nothing was run.',
    'Resume with the definitions of the time of the pause, or cancel the run.',
  ),
  RESOURCES_NOT_DURABLE: row('Live resources were given to a durable engine.', 'Give a factory in createRuntime.'),
  // tools and output
  TOOL_NOT_FOUND: row('The model asked for a tool that was not offered.', 'Look at the name in the message.', '-20504'),
  TOOL_ARGS_INVALID: row('The arguments of a tool call cannot be used.', 'See the fault in the message.', '-20304'),
  TOOL_ARGS_NOT_PLAIN: row(
    'The arguments are not plain JSON data while a gate inspects them.',
    'Return plain data from the schema.',
  ),
  TOOL_FAILED: row(
    'A tool handler failed; the true error lies in the error log under the reference.',
    'Look the reference up.',
  ),
  TOOL_RESULT_INVALID: row(
    'A handler returned nothing, or something that is not text or JSON.',
    'Return a string or JSON data.',
  ),
  TOOL_TIMEOUT: row('A tool handler took longer than its timeout.', 'Raise `timeoutMs` of the tool.'),
  OUTPUT_INVALID: row(
    'The structured output is not JSON or does not fit its schema.',
    'See the path in the message.',
    '-20304',
  ),
  SCHEMA_UNSUPPORTED: row('A schema cannot be expressed in a protocol.', 'Change the part at the path.', '-20307'),
  UNSUPPORTED_CONTENT: row(
    'A content part cannot be sent with this protocol.',
    'Use another type or provider.',
    '-20508',
  ),
  UNHANDLED_FORMAT: row('A media type is not supported.', 'Use PDF, JPEG, PNG, GIF or WebP.', '-20303'),
  HOSTED_TOOL_UNDECLARED: row(
    'A raw provider option holds a tool that was not declared.',
    'Declare it with hostedTool().',
  ),
  // providers
  UNKNOWN_PROVIDER: row(
    'No adapter is registered under that id.',
    'Add it to `providers`, or mend the model reference.',
    '-20306',
  ),
  PROVIDER_SDK_MISSING: row('The SDK of a provider is not installed.', 'Run the install line of the message.'),
  REASONING_BUDGET_TOO_LARGE: row(
    'The reasoning budget is not below the output cap.',
    'Raise `maxOutputTokens` or lower the budget.',
    '-20308',
  ),
  PROVIDER_RESPONSE_ERROR: row(
    'The provider answered with an error or an unusable reply.',
    'See the text of the provider.',
    '-20302',
  ),
  PROVIDER_AUTH: row('The provider refused the credentials.', 'Check the key.'),
  PROVIDER_RATE_LIMITED: row('The provider asks to slow down.', 'Wait for `details.retryAfterMs`.', undefined, true),
  PROVIDER_OVERLOADED: row('The provider failed or is overloaded.', 'Try again later.', undefined, true),
  PROVIDER_TIMEOUT: row('The provider did not answer in time.', 'Try again.', undefined, true),
  PROVIDER_UNREACHABLE: row(
    'The provider could not be reached.',
    'Check the network and the base URL.',
    undefined,
    true,
  ),
  PROVIDER_STREAM_BROKEN: row('The stream ended before the reply was complete.', 'Try again.', undefined, true),
  PROVIDER_RESPONSE_TOO_LARGE: row(
    'The body of an answer is longer than what is read of it.',
    'Lower `maxOutputTokens`, and check what stands at the base URL.',
  ),
  MODEL_NOT_FOUND: row('The provider does not know the model.', 'Check the model name.', '-20305'),
  CONTEXT_LENGTH_EXCEEDED: row('The request is longer than the model takes.', 'Shorten the history.'),
  CONTENT_FILTERED: row('The provider refused the request by its content policy.', 'Change the content.'),
  // store
  STORE_FAILED: row('The store could not do what was asked; nothing was written.', 'See the cause.', undefined, true),
  STORE_OUTCOME_UNKNOWN: row(
    'A write failed and it cannot be known whether it took effect.',
    'Repeat it with the same key.',
    undefined,
    true,
  ),
  STORE_READ_ONLY: row('The folder of the store cannot be written.', 'Check permissions and the disk.'),
  STORE_FULL: row('There is no room left for the store.', 'Free some space.', undefined, true),
  STORE_DAMAGED: row(
    'A file of the store is damaged.',
    'Restore the file that the message names; nothing was overwritten.',
  ),
  STORE_LOCKED: row('Another process has the store open.', 'Use a store for several processes, or stop the other one.'),
  STORE_KEY_INVALID: row('A key or id is not acceptable to stores.', 'See the message for what is allowed.'),
  STORE_VALUE_INVALID: row('A value cannot be stored as JSON.', 'Store plain JSON data with well-formed strings.'),
  STORE_CLOSED: row('The store was closed.', 'Open another one.'),
  STORE_CALLBACK: row(
    'A transact callback returned a promise or something else than was asked for.',
    'Make it synchronous and pure.',
  ),
} as const satisfies Record<string, ErrorCodeRow>

/** The codes of {@link ERROR_CODES}. A `Veto` carries a code of its plugin instead. */
export type ErrorCode = keyof typeof ERROR_CODES
