/**
 * Why a reply or a call ended (G-10): one of ours, or the provider's own word where it has no mapping.
 * `ended_by_tool`: a tool with `endsCall` was called; `landed`: a gate answered `Land`; `max_tool_calls_exceeded`: the bound was met with `onToolLimit: 'finish'`.
 */
export type FinishReason =
  | 'stop'
  | 'tool_calls'
  | 'length'
  | 'content_filter'
  | 'refusal'
  | 'max_tool_calls_exceeded'
  | 'landed'
  | 'ended_by_tool'
  | 'error'
  | (string & {})
