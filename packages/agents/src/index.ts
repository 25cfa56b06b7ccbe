export type { AgentsErrorCode, AgentsErrorRow } from './error-codes.js'
export { AGENTS_ERROR_CODES } from './error-codes.js'
export type { HelperStep, ParallelWorkflowOptions, SequentialWorkflowOptions } from './workflow/create-workflow.js'
export { createParallelWorkflow, createSequentialWorkflow } from './workflow/create-workflow.js'
export { defineWorkflow } from './workflow/define-workflow.js'
export type {
  AggregationStrategy,
  ExecutionMode,
  JsonMappingValue,
  OnStepError,
  WorkflowJson,
  WorkflowKind,
  WorkflowStepJson,
} from './workflow/workflow-json.js'
export type { WorkflowOptions, WorkflowStep } from './workflow/workflow-options.js'
export { workflowType } from './workflow/workflow-type.js'
export { workflowWarnings } from './workflow/workflow-warnings.js'
export type { HistoryOptions } from './orchestration/history-options.js'
export type { HandoffMember, HandoffOptions } from './handoff/define-handoff.js'
export { defineHandoff } from './handoff/define-handoff.js'
export { handoffType } from './handoff/handoff-type.js'
export type { DelegateOption, OrchestratorOptions } from './orchestrator/define-orchestrator.js'
export { defineOrchestrator } from './orchestrator/define-orchestrator.js'
export { orchestratorType } from './orchestrator/orchestrator-type.js'
export type { ConversationMapping, ConversationMode, TerminationCondition } from './conversation/conversation-json.js'
export { conversationType } from './conversation/conversation-type.js'
export { conversationWarnings } from './conversation/conversation-warnings.js'
export type {
  ConversationModerator,
  ConversationOptions,
  ConversationParticipant,
} from './conversation/define-conversation.js'
export { defineConversation } from './conversation/define-conversation.js'
export type { AgentMemory, AgentMemoryOptions } from './memory/create-memory.js'
export { createMemory } from './memory/create-memory.js'
export type { MemoryConfig, MemoryOptions, MemoryScope } from './memory/memory-config.js'
export type { MemoryAuthor, MemoryFile } from './memory/memory-files.js'
export type { MemoryCall, MemoryManagement, MemoryPurge } from './memory/memory-management.js'
export { getMemoryProtocol } from './memory/memory-protocol.js'
export type { MemoryStoreReference } from './memory/store-key.js'
