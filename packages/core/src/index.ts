export type { AnswerOrigin } from './errors/answers.js'
export { Land, Pause, Refusal, Veto, Wait } from './errors/answers.js'
export type { ErrorCode, ErrorCodeRow } from './errors/error-codes.js'
export { ERROR_CODES } from './errors/error-codes.js'
export type { ProviderErrorCode, ProviderErrorOptions } from './errors/provider-error.js'
export { ProviderError } from './errors/provider-error.js'
export type { PartialRun, ReceiptCounts, SluiceErrorOptions, ToolCallRecord } from './errors/sluice-error.js'
export { SluiceError } from './errors/sluice-error.js'
export type { Clock, Timer } from './internal/clock.js'
export { systemClock } from './internal/clock.js'
export type { Ids } from './internal/ids.js'
export { createIds } from './internal/ids.js'
export type { JsonObject, JsonValue, MaybePromise } from './internal/json.js'
export type { Logger } from './internal/logger.js'
export type { FinishReason } from './messages/finish-reason.js'
export type { Label, LabelKind } from './messages/label.js'
export type {
  AssistantMessage,
  AssistantPart,
  FilePart,
  HostedPart,
  Message,
  ProviderOptions,
  ReasoningPart,
  RefusalPart,
  SystemMessage,
  TextPart,
  ToolCallPart,
  ToolMessage,
  ToolResultPart,
  ToolStatus,
  UserMessage,
} from './messages/message.js'
export type { RateLimitHeaders } from './messages/rate-limit-headers.js'
export type { Usage } from './messages/usage.js'
export { addUsage, totalInput, USAGE_NONE, USAGE_NOT_REPORTED } from './messages/usage.js'
export type {
  ModelProvider,
  ModelReply,
  ModelRequest,
  OfferedHostedTool,
  OfferedTool,
  OutputFormat,
  Protocol,
  ReasoningSettings,
  StreamPart,
} from './providers/model-provider.js'
export { splitModelReference } from './providers/model-provider.js'
