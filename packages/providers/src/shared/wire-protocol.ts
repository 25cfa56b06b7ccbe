import type { JsonObject, ModelReply, ModelRequest, Protocol, ProviderErrorOptions, StreamPart } from '@sluice/core'
import type { ErrorDialect } from './to-provider-error.js'
import type { ToolCallIds } from './tool-call-ids.js'
import type { Wire } from './wire-json.js'

/** What a reader of replies needs to know of the request. */
export interface Reading {
  readonly providerId: string
  readonly ids: ToolCallIds
}

/** A reply without what stands in the headers. */
export type WireReply = Omit<ModelReply, 'requestId' | 'rateLimit'>

/** Puts the events of one stream together. It is handed each event once, in order, and never waits. */
export interface StreamReader {
  /** Takes one event and appends what it tells the consumer to `out`. */
  read(event: unknown, out: StreamPart[]): void
  /** True from the protocol's end event on: what came is the whole reply. */
  readonly ended: boolean
  /** The whole reply; asked only after the end. */
  reply(): WireReply
  /** What came so far. */
  partial(): NonNullable<ProviderErrorOptions['partial']>
}

/** Everything in which one wire protocol differs from another; the rest of an adapter is written once. */
export interface WireProtocol {
  readonly protocol: Protocol
  readonly path: string
  /** The members that turn a body into a request for a stream. */
  readonly streamMembers: JsonObject
  /**
   * For a body that says at its end that it is plain, or in which the members of a stream stand deeper: the end of a plain
   * body, and what stands there for a stream, in place of `streamMembers`.
   */
  readonly tails?: { readonly plain: string; readonly stream: string }
  readonly errors: ErrorDialect
  /**
   * The request's body, not yet for a stream.
   * @throws UNSUPPORTED_CONTENT, UNHANDLED_FORMAT, SCHEMA_UNSUPPORTED, HOSTED_TOOL_UNDECLARED, REASONING_BUDGET_TOO_LARGE, INVALID_CONFIG
   */
  toBody(request: ModelRequest): Wire
  /** A whole answer as a reply; throws a `ReplyFault` where it cannot be used. */
  fromBody(body: unknown, reading: Reading): WireReply
  openStream(reading: Reading): StreamReader
  /** An upper bound of the tokens of a file, whatever its size; `bytes` where it goes out as text; `null` where there is none. */
  fileTokensAtMost(mediaType: string): number | 'bytes' | null
  /** True where the provider adds to a request what is not in it, so that its length bounds nothing. */
  addsToInput?(request: ModelRequest): boolean
  checkSchema(schema: JsonObject, use: 'tool' | 'output'): void
  /** True where the answer schema's root is no object, so that the answer comes under a key of its own. */
  wrapsOutput(schema: JsonObject): boolean
}
