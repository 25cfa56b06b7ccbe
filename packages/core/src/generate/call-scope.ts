import type { Steps } from '../engine/engine.js'
import type { AskControl } from '../hooks/ask-gates.js'
import type { EffectFacts } from '../hooks/asking-context.js'
import type { ToolCallRecord } from '../errors/sluice-error.js'
import type { HookSet } from '../hooks/hook-set.js'
import type { Clock } from '../internal/clock.js'
import { unionLabels } from '../messages/label.js'
import type { Label } from '../messages/label.js'
import type { AssistantPart, Message, ToolResultPart } from '../messages/message.js'
import { USAGE_NONE } from '../messages/usage.js'
import type { Usage } from '../messages/usage.js'
import type { ModelProvider } from '../providers/model-provider.js'
import type { RunScope } from './run-scope.js'
import type { RuntimeParts } from './runtime-parts.js'
import type { Tree } from './tree.js'

/** One `generateText` call: its id, its place in the tree, and what it adds up to. Never shared between calls (Z-5). */
export class CallScope {
  readonly run: RunScope
  readonly tree: Tree
  readonly parts: RuntimeParts
  readonly clock: Clock
  readonly requestId: string | null
  /** Names from the root of the tree to this call, joined by `/`; empty for the call of the top-level run. */
  readonly path: string
  readonly steps: Steps
  readonly hookSet: HookSet
  readonly control: AskControl
  readonly gatePoints: readonly string[] | undefined
  labels: readonly Label[]
  readonly messages: Message[] = []
  /** Messages that a gate took back: sent to the model in this call, kept in the record, shown to nobody. */
  readonly withheld = new Set<Message>()
  usage: Usage = USAGE_NONE
  /** The provider that gave the reply whose tools run now: its row decides what their failures do. */
  answeredBy: ModelProvider | undefined
  /** Model requests made so far, for their names. */
  requests = 0
  /** UTF-16 units of text in the conversation, for a cheap bound of its size. */
  units = 0
  /** Ids of the tool calls of this conversation, and how many were made for want of one. */
  readonly callIds = new Set<string>()
  madeIds = 0
  /** Tool calls of this call, as its result lists them. */
  readonly records: ToolCallRecord[] = []
  /** Tool calls that got a result. */
  toolCalls = 0

  constructor(
    run: RunScope,
    options: {
      requestId: string | null
      path: string
      steps: Steps
      hookSet: HookSet
      gatePoints: readonly string[] | undefined
      main: boolean
    },
  ) {
    this.run = run
    this.tree = run.tree
    this.parts = run.tree.parts
    this.clock = this.parts.clock
    this.requestId = options.requestId
    this.path = options.path
    this.steps = options.steps
    this.hookSet = options.hookSet
    this.gatePoints = options.gatePoints
    this.control = {
      clock: this.parts.clock,
      deadlines: this.parts.deadlines,
      stops: run.stops,
      logger: this.parts.logger,
    }
    this.labels = run.options.labels
    if (options.hookSet !== run.tree.hookSet) run.tree.widen(options.hookSet)
    // the conversation of the run itself, for the partial of an error
    if (options.main) run.call = this
  }

  /** The effect id of a name below this call. */
  effectId(name: string): string {
    return this.path === ''
      ? `${this.tree.rootExecutionId}/${name}`
      : `${this.tree.rootExecutionId}/${this.path}/${name}`
  }

  pathOf(name: string): string {
    return this.path === '' ? name : `${this.path}/${name}`
  }

  facts(effectId: string, attempt: number): EffectFacts {
    const run = this.run.facts
    return {
      effectId,
      attempt,
      executionId: run.executionId,
      rootExecutionId: run.rootExecutionId,
      parentExecutionId: run.parentExecutionId,
      requestId: this.requestId,
      depth: run.depth,
      tenant: this.tree.options.tenant,
      labels: this.labels,
      agentId: run.agentId,
      agentCode: run.agentCode,
      createdBy: run.createdBy,
      sessionId: run.sessionId,
      appId: this.tree.options.appId,
    }
  }

  /** Adds a message to the conversation, and its labels to those of the next request. */
  add(message: Message): void {
    this.messages.push(message)
    this.units += unitsOf(message)
    if (message.role === 'user' || message.role === 'tool') {
      for (let index = 0; index < message.content.length; index++) {
        const labels = message.content[index]?.labels
        if (labels !== undefined) this.labels = unionLabels(this.labels, labels)
      }
    } else if (message.role === 'assistant' && message.labels !== undefined) {
      this.labels = unionLabels(this.labels, message.labels)
    }
  }

  /** The conversation as the caller sees it. */
  shown(): readonly Message[] {
    return Object.freeze(
      this.withheld.size === 0 ? [...this.messages] : this.messages.filter((message) => !this.withheld.has(message)),
    )
  }

  /** Notes the ids of the tool calls of an earlier conversation, so that none is used again. */
  keepIds(messages: readonly Message[]): void {
    for (const message of messages) {
      if (message.role !== 'assistant') continue
      for (const part of message.content) if (part.type === 'tool_call') this.callIds.add(part.toolCallId)
    }
  }
}

function unitsOf(message: Message): number {
  if (typeof message.content === 'string') return message.content.length
  let units = 0
  const parts: readonly (AssistantPart | ToolResultPart)[] = message.content
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] as AssistantPart | ToolResultPart
    if (part.type === 'tool_call') units += part.args.length
    else if (part.type === 'tool_result') units += part.result.length
    else if (part.type === 'file') units += part.data.length
    else units += part.text.length
  }
  return units
}
