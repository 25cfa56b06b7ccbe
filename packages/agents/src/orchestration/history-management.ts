import type { BranchWork, JsonValue, Label, Logger } from '@sluice/core'
import { encode } from '@toon-format/toon'
import type { ConfigReader } from './config-reader.js'
import { isAbsent } from './config-reader.js'

/** How much of a conversation goes on (S-41). */
export interface HistoryManagement {
  /** `full`, `sliding_window` or `summarize`; any other leaves the conversation as it is. */
  readonly strategy: string
  readonly maxMessages: number
  readonly summarizeAfter: number
  /** `null`: where something would be summarised, the window holds. */
  readonly summarizer: string | null
}

export const FULL_HISTORY: HistoryManagement = Object.freeze({
  strategy: 'full',
  maxMessages: 20,
  summarizeAfter: 10,
  summarizer: null,
})

const KEYS = ['strategy', 'max_messages', 'summarize_after', 'summarizer_agent_code']

/** Reads `history_management`. */
export function readHistoryManagement(reader: ConfigReader, given: unknown): HistoryManagement {
  if (isAbsent(given)) return FULL_HISTORY
  const config = reader.object('history_management', given, KEYS)
  const place = (key: string): string => `history_management.${key}`
  const { strategy, summarizer_agent_code: summarizer } = config
  return Object.freeze({
    strategy: isAbsent(strategy) ? 'full' : reader.text(place('strategy'), strategy, 'full, sliding_window, summarize'),
    maxMessages: reader.count(place('max_messages'), config.max_messages, 1) ?? FULL_HISTORY.maxMessages,
    summarizeAfter: reader.count(place('summarize_after'), config.summarize_after, 1) ?? FULL_HISTORY.summarizeAfter,
    summarizer: isAbsent(summarizer) ? null : reader.code(place('summarizer_agent_code'), summarizer),
  })
}

/** What a strategy is applied to: how its entries are cut, and what a summary of some of them looks like. */
export interface Managed<Entry> {
  /** The newest entries within a bound. */
  window(entries: readonly Entry[], most: number): readonly Entry[]
  /** Where the newest entries begin of which `keep` are to be kept; 0 where they cannot be cut there. */
  cutAt(entries: readonly Entry[], keep: number): number
  /** Plain data of the entries, for the summariser. */
  told(entries: readonly Entry[]): JsonValue
  labels(entries: readonly Entry[]): readonly Label[]
  /** The entries with a summary in the place of those before `cut`. */
  replaced(entries: readonly Entry[], cut: number, summary: string): readonly Entry[]
}

/** Who does the work of a strategy. */
export interface ManagingRun {
  readonly work: Pick<BranchWork, 'run'>
  readonly logger: Logger
  /** Name of the run of the summariser. */
  readonly name: string
  readonly agentCode: string
}

/** The part of a conversation that goes on. A conversation within the bounds is returned by identity. */
export async function manageHistory<Entry>(
  entries: readonly Entry[],
  { strategy, maxMessages, summarizeAfter, summarizer }: HistoryManagement,
  managed: Managed<Entry>,
  run: ManagingRun,
): Promise<readonly Entry[]> {
  const { logger, agentCode } = run
  switch (strategy) {
    case 'full':
      return entries
    case 'sliding_window':
      return managed.window(entries, maxMessages)
    case 'summarize':
      if (entries.length <= summarizeAfter) return entries
      if (summarizer !== null) return summarised(entries, summarizeAfter, summarizer, managed, run)
      logger.warn({ agentCode }, 'history_management has no summarizer_agent_code: the window holds in its place')
      return managed.window(entries, maxMessages)
    default:
      logger.warn({ agentCode, strategy }, 'history_management has an unknown strategy: the history stays as it is')
      return entries
  }
}

/** The newer half stays as it is, so that not every turn has another summary. */
async function summarised<Entry>(
  entries: readonly Entry[],
  after: number,
  summarizer: string,
  managed: Managed<Entry>,
  { work, name }: ManagingRun,
): Promise<readonly Entry[]> {
  const cut = managed.cutAt(entries, Math.max(1, Math.floor(after / 2)))
  if (cut === 0) return entries
  const older = entries.slice(0, cut)
  const summary = await work.run(name, {
    agent: summarizer,
    input: { conversation_history: encode(managed.told(older)), summarize_count: older.length },
    labels: managed.labels(older),
  })
  return managed.replaced(entries, cut, summary.text ?? '')
}
