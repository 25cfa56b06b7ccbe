import type { Engine, Steps } from '../engine/engine.js'
import type { EventHub } from '../events/event-hub.js'
import type { ObserverHealth } from '../hooks/observe.js'
import type { Clock } from '../internal/clock.js'
import type { Deadlines } from '../internal/deadlines.js'
import type { Ids } from '../internal/ids.js'
import type { JsonObject } from '../internal/json.js'
import type { Logger } from '../internal/logger.js'
import type { Label } from '../messages/label.js'
import type { ModelProvider } from '../providers/model-provider.js'
import type { Store } from '../store/store.js'
import type { RunScope } from './run-scope.js'
import type { Limits, LoopSettings, Timeouts } from './settings.js'

/** A run that the framework starts in place of a handler (`defineTool({ agent })`). */
export interface AgentToolRun {
  readonly agent: string
  /** The owner vouches for the answer. */
  readonly dropsLabels: boolean
  readonly input: JsonObject
  readonly parent: RunScope
  readonly steps: Steps
  /** Path of the tool effect that the run stands under. */
  readonly path: string
  readonly labels: readonly Label[]
}

/** What the agent behind a tool came to: its final message as text, and the labels of everything that led to it. */
export class AgentToolResult {
  readonly text: string
  readonly labels: readonly Label[]

  constructor(text: string, labels: readonly Label[]) {
    this.text = text
    this.labels = labels
  }
}

/** What a runtime and its forks share, and what every tree works with. */
export interface RuntimeParts {
  readonly runtimeKey: object
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
  readonly deadlines: Deadlines
  readonly health: ObserverHealth
  readonly store: Store
  readonly engine: Engine
  readonly providers: ReadonlyMap<string, ModelProvider>
  readonly events: EventHub
  readonly limits: Limits
  readonly timeouts: Timeouts
  readonly settings: LoopSettings
  /** Runs the agent behind a tool as a nested run. */
  runAgentTool(run: AgentToolRun): Promise<AgentToolResult>
}
