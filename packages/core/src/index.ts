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
export type { Engine, Recorded, Steps, StoredEntry, StoredJournal } from './engine/engine.js'
export { inlineEngine } from './engine/inline/inline-engine.js'
export type { EventData, EventOf, EventTypeName, RunEvent } from './events/run-event.js'
export { EventType } from './events/run-event.js'
export type { Audience, Caller } from './context/caller.js'
export type { OfferedRunContext, RunContext, RunContextValue } from './context/run-context.js'
export type { ExecutionContext } from './context/execution-context.js'
export { currentRequestId, getExecutionContext } from './context/execution-context.js'
export { HookFailedError } from './errors/answers.js'
export type { PluginList } from './hooks/check-plugins.js'
export type { EffectFacts } from './hooks/asking-context.js'
export type { BenchFacts } from './hooks/bench-context.js'
export type {
  BenchAnswer,
  BenchPlace,
  GateInput,
  HookBench,
  HookBenchParts,
  ObserverInput,
} from './hooks/hook-bench.js'
export { createHookBench } from './hooks/hook-bench.js'
export type { ObserverHealth } from './hooks/observe.js'
export type {
  AfterExecutionContext,
  AfterModelCallContext,
  AfterToolCallContext,
  BeforeExecutionContext,
  BeforeModelCallContext,
  BeforeToolCallContext,
  CommonContext,
  Decision,
  ErrorSnapshot,
  HostedToolInfo,
  InspectReplyContext,
  InspectToolInputContext,
  OnStopContext,
  PromptContext,
  ToolInfo,
  WhileInFlightContext,
} from './hooks/hook-contexts.js'
export type {
  GateContexts,
  GatePoint,
  HookPoint,
  HookPointRow,
  ObserverContexts,
  ObserverPoint,
} from './hooks/hook-points.js'
export { GATE_ANSWERS, HOOK_POINTS } from './hooks/hook-points.js'
export type {
  GateHook,
  Hooks,
  NextPrompt,
  ObserverHook,
  PromptHook,
  TapCallback,
  TapOptions,
} from './hooks/hook-types.js'
export type {
  AppliedResult,
  PluginFactory,
  PluginHost,
  PluginInstance,
  PluginSpec,
  RunState,
} from './hooks/plugin.js'
export { definePlugin, HOOK_API, isPluginInstance, shadow } from './hooks/plugin.js'
export type { Asking, EffectOutcome, GateAnswer, GateReceipt, Receipt, Sent } from './hooks/receipt.js'
export { Stage } from './hooks/stage.js'
export type { StandardSchemaV1 } from './hooks/standard-schema.js'
export type {
  AppendLog,
  DefinitionRepository,
  DocumentKey,
  Documents,
  ExecutionFilter,
  ExecutionRepository,
  JournalRepository,
  LogEntry,
  MessageRepository,
  Page,
  PageRequest,
  ReceiptRepository,
  SessionFilter,
  SessionRepository,
  Store,
  StoreCall,
  StoreTransaction,
  ToolErrorRepository,
} from './store/store.js'
export type {
  DefinitionRecord,
  DefinitionStatus,
  EnvironmentFields,
  ExecutionRecord,
  ExecutionStatus,
  FailureKind,
  MessageRecord,
  NewMessageRecord,
  DecisionRecord,
  PendingRecord,
  PluginStamp,
  SessionRecord,
  ToolErrorRecord,
} from './store/records.js'
export type { MemoryStoreOptions } from './store/memory/create-memory-store.js'
export { createMemoryStore } from './store/memory/create-memory-store.js'
export type { AgentDefinition, ProfileAgentDefinition } from './agents/agent-definition.js'
export { isAgentDefinition, sealAgent } from './agents/agent-definition.js'
export type { AgentChange, AgentFields, AgentVersion, NewAgent } from './agents/agent-fields.js'
export type { AgentRegistry } from './agents/agent-registry.js'
export type { AgentReference } from './agents/registry-parts.js'
export type { AgentToRun } from './agents/resolve-agents.js'
export type { AgentInvocation, AgentReferences, AgentResult, AgentType, ResolvedAgent } from './agents/agent-type.js'
export type { AgentOptions, InputOf, OutputOf } from './agents/define-agent.js'
export { defineAgent } from './agents/define-agent.js'
export type { PlaceholderNames, TemplateInput } from './agents/template-input.js'
export type { ResolvedCaller } from './context/caller.js'
export type { EnvironmentFacts, EnvironmentReader } from './context/environment.js'
export { getCaller } from './context/get-caller.js'
export { runContextValue } from './context/run-context.js'
export type { EventCallback } from './events/event-hub.js'
export type { Limits, LoopSettings, RetrySettings, Timeouts } from './generate/settings.js'
export { DEFAULT_LIMITS, DEFAULT_SETTINGS, DEFAULT_TIMEOUTS } from './generate/settings.js'
export type { PromptProfile, PromptProfileDefinition } from './prompts/prompt-profile.js'
export type { CompiledTemplate } from './prompts/compile-template.js'
export type { PreparedPrompt } from './prompts/prepare-prompt.js'
export type {
  ChangedBy,
  PromptProfileRecord,
  PromptReference,
  PromptRegistry,
  ResolvedPrompt,
  StoredPrompt,
} from './prompts/prompt-registry.js'
export type { RuntimeOptions } from './runtime/create-runtime.js'
export { createRuntime } from './runtime/create-runtime.js'
export type { DecideOptions } from './runtime/decide.js'
export type { ExecuteOptions, OutputOfCall } from './runtime/execute-options.js'
export type { ExplainedTap, ExplainedTool, Explanation } from './runtime/explain.js'
export type { ExecuteProfileOptions, GenerateOptions, LooseMessage } from './runtime/plain-options.js'
export type { ResumeOptions } from './runtime/resume.js'
export type { UnitOfWork } from './runtime/run-in-transaction.js'
export { runInTransaction } from './runtime/run-in-transaction.js'
export type { CompletedRun, Generated, PausedRun, PendingDecision, Run } from './runtime/run-result.js'
export type { RunStream } from './runtime/run-stream.js'
export type { Events, Health, PluginWithApi, Runtime, Show } from './runtime/runtime.js'
export type { ResourcesFactory } from './runtime/runtime-core.js'
export type { OfferedInput } from './runtime/untrusted-input.js'
export { createSessionId } from './sessions/create-session-id.js'
export type { ExecutionListRequest, Executions } from './sessions/execution-read-model.js'
export type { Scope } from './sessions/scope.js'
export type { AcceptedArguments } from './sessions/session-access.js'
export type { Scoped, Sessions, TranscriptRequest } from './sessions/session-read-model.js'
export type { CompiledSchema, Validation } from './tools/compile-validator.js'
export type { ToolOptions } from './tools/define-tool.js'
export { defineTool, isToolDefinition } from './tools/define-tool.js'
export { withErrorReference } from './tools/error-reference.js'
export type { HostedToolDefinition, HostedToolOptions } from './tools/hosted-tool.js'
export { hostedTool } from './tools/hosted-tool.js'
export type { ToolRefusal } from './tools/refuse.js'
export { refuse } from './tools/refuse.js'
export type { SchemaOutput, SchemaSource } from './tools/schema.js'
export type { SchemaIssue } from './tools/schema-issue.js'
export type {
  OnceKeys,
  ToolContext,
  ToolCost,
  ToolDefinition,
  ToolEffect,
  ToolOffer,
  ToolRepeat,
  ToolResources,
} from './tools/tool-definition.js'
export { untrusted } from './tools/untrusted.js'
export type { AppliesToContext, AppliesToOptions } from './hooks/applies-to.js'
export { appliesTo } from './hooks/applies-to.js'
export type { CountedContext, CounterUnit, EffectCounter } from './hooks/effect-counter.js'
export { effectCounter } from './hooks/effect-counter.js'
