import type { JsonObject } from '../internal/json.js'
import type {
  ModelProvider,
  ModelRequest,
  OfferedHostedTool,
  OfferedTool,
  OutputFormat,
  ReasoningSettings,
} from '../providers/model-provider.js'
import type { CompiledSchema } from '../tools/compile-validator.js'
import type { HostedToolDefinition } from '../tools/hosted-tool.js'
import type { ToolDefinition } from '../tools/tool-definition.js'
import type { LoopSettings } from './settings.js'

/** One model behind one adapter. */
export interface ModelTarget {
  readonly provider: ModelProvider
  readonly model: string
}

/** The options of one `generateText` call, resolved and checked: everything the loop works with. */
export interface CallPlan {
  /** The model asked for, and those to fall back to. */
  readonly targets: readonly ModelTarget[]
  readonly tools: ReadonlyMap<string, ToolDefinition>
  readonly offered: readonly OfferedTool[]
  readonly toolNames: readonly string[]
  readonly hosted: readonly HostedToolDefinition[]
  readonly offeredHosted: readonly OfferedHostedTool[]
  readonly toolChoice?: ModelRequest['toolChoice']
  readonly output?: { readonly format: OutputFormat; readonly schema: CompiledSchema }
  readonly settings: LoopSettings
  readonly reasoning?: ReasoningSettings
  readonly temperature?: number
  readonly topP?: number
  readonly stopSequences?: readonly string[]
  readonly providerOptions?: JsonObject
  readonly connection?: ModelRequest['connection']
  /** Deltas are asked of the provider. */
  readonly stream: boolean
}
