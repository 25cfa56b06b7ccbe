import type { AgentDefinition, JsonObject } from '@sluice/core'
import { codeOf } from './code-of.js'
import { isObject } from './config-reader.js'
import { given } from './given.js'

/** What goes on of a conversation, in code (S-41). */
export interface HistoryOptions {
  /** All of it, the newest part, or the newest part behind a summary of the rest. @default 'full' */
  readonly strategy?: 'full' | 'sliding_window' | 'summarize'
  /** Of the window: 1 to 1 000. @default 20 */
  readonly maxMessages?: number
  /** What is longer is summarised: 1 to 1 000. @default 10 */
  readonly summarizeAfter?: number
  /** The agent that writes summaries: it is given `conversation_history` and `summarize_count`. Without it, the window holds. */
  readonly summarizer?: string | AgentDefinition
}

/** The stored form. */
export function historyJson(options: HistoryOptions | undefined): JsonObject | undefined {
  if (!isObject(options)) return options as JsonObject | undefined
  const { strategy, maxMessages, summarizeAfter, summarizer, ...unknown } = options as HistoryOptions
  return given({
    ...unknown,
    strategy,
    max_messages: maxMessages,
    summarize_after: summarizeAfter,
    summarizer_agent_code: codeOf(summarizer),
  })
}
