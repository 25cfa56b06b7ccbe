import type { FinishReason, ModelProvider } from '@sluice/core'

/** What differs from provider to provider above the wire (rules G-14, G-33, G-37). */
export interface ProviderRow {
  readonly protocol: string
  readonly defaults: ModelProvider['defaults']
  /** The provider's own words for finish reasons; those that are absent are passed through. */
  readonly finishReasons: Readonly<Partial<Record<FinishReason, string>>>
}

const THROW_THROW = Object.freeze({ onToolError: 'throw', onToolLimit: 'throw' } as const)
const RETURN_THROW = Object.freeze({ onToolError: 'return', onToolLimit: 'throw' } as const)
const THROW_FINISH = Object.freeze({ onToolError: 'throw', onToolLimit: 'finish' } as const)

const row = (
  protocol: string,
  defaults: ModelProvider['defaults'],
  finishReasons: ProviderRow['finishReasons'] = {},
): ProviderRow => Object.freeze({ protocol, defaults, finishReasons: Object.freeze(finishReasons) })

/**
 * The rows of all protocols that Sluice knows, by protocol: a table-driven test runs the same script once per row with
 * `scriptedProvider(script, { emulate: protocol })`.
 */
export const PROVIDER_ROWS = Object.freeze({
  'openai-responses': row('openai-responses', THROW_FINISH, {
    stop: 'completed',
    tool_calls: 'completed',
    length: 'max_output_tokens',
  }),
  'openai-chat': row('openai-chat', THROW_THROW),
  'anthropic-messages': row('anthropic-messages', THROW_THROW, {
    stop: 'end_turn',
    tool_calls: 'tool_use',
    length: 'max_tokens',
  }),
  'google-generate-content': row('google-generate-content', RETURN_THROW, {
    stop: 'STOP',
    tool_calls: 'STOP',
    length: 'MAX_TOKENS',
    content_filter: 'SAFETY',
  }),
  'ollama-chat': row('ollama-chat', THROW_THROW, { tool_calls: 'stop' }),
  'oci-generic': row('oci-generic', RETURN_THROW),
  'oci-cohere': row('oci-cohere', RETURN_THROW, { stop: 'COMPLETE', tool_calls: 'COMPLETE', length: 'MAX_TOKENS' }),
})

/** A protocol that `scriptedProvider` can emulate. */
export type EmulatedProtocol = keyof typeof PROVIDER_ROWS
