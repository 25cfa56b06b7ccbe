import type {
  AgentDescription,
  AgentInvocation,
  AgentResult,
  ChildResult,
  ChildRun,
  JsonObject,
  JsonValue,
  Message,
} from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { encode } from '@toon-format/toon'
import type { Managed } from '../orchestration/history-management.js'
import { manageHistory } from '../orchestration/history-management.js'
import { labelsOf } from '../orchestration/labels-of.js'
import type { HandoffConfig } from './handoff-config.js'
import { describeMembers } from './describe-members.js'
import type { HopFacts } from './hop-input.js'
import { hopInput, NO_HANDOFF } from './hop-input.js'
import type { SpokenHistory } from './member-history.js'
import { earlierAnswers, memberHistory } from './member-history.js'
import { sayHop } from './say-hop.js'
import type { Transfer } from './transfer-tools.js'
import { transferOf, transferTools } from './transfer-tools.js'

/** An answer as it is told: structured ones as data. */
type Answered = { readonly agent: string; readonly response: JsonValue }

/** Runs one turn of a handoff: hop after hop, until one answers without handing over. */
export async function runHandoff(config: HandoffConfig, invocation: AgentInvocation): Promise<AgentResult> {
  const members = await describeMembers(invocation.work, invocation.agent.code, config.members)
  return new HandoffTurn(config, invocation, members).run()
}

/** Where control is, and how it came there. */
interface Hop {
  readonly number: number
  readonly member: string
  /** `undefined` for the hop with which the turn begins. */
  readonly from: (Transfer & { readonly agent: string }) | undefined
}

class HandoffTurn {
  readonly #config: HandoffConfig
  readonly #invocation: AgentInvocation
  readonly #members: ReadonlyMap<string, AgentDescription>
  readonly #spoken: SpokenHistory
  /** Parameters of the caller. A further turn has its text alone (F-17). */
  readonly #parameters: JsonObject
  readonly #trail: JsonObject[] = []
  readonly #answers: Answered[] = []

  constructor(config: HandoffConfig, invocation: AgentInvocation, members: ReadonlyMap<string, AgentDescription>) {
    this.#config = config
    this.#invocation = invocation
    this.#members = members
    this.#spoken = { messages: invocation.history, by: invocation.historyBy }
    this.#parameters = invocation.followUp === null ? invocation.input : { prompt: invocation.followUp }
  }

  async run(): Promise<AgentResult> {
    let hop: Hop = { number: 1, member: this.#first(), from: undefined }
    for (;;) {
      const { result, transfer } = await this.#hop(hop)
      if (transfer === undefined) return this.#ended(hop, result)
      this.#trail.push({
        hop: hop.number,
        from_agent: hop.member,
        to_agent: transfer.to,
        ...(transfer.reason === undefined ? {} : { reason: transfer.reason }),
        context: transfer.context,
      })
      hop = { number: hop.number + 1, member: transfer.to, from: { ...transfer, agent: hop.member } }
    }
  }

  /** Who answered last keeps the conversation, as long as it is a member (F-17). */
  #first(): string {
    const last = this.#invocation.earlier?.final_agent_code
    return typeof last === 'string' && this.#members.has(last) ? last : this.#config.initial
  }

  async #hop(hop: Hop): Promise<{ readonly result: ChildResult; readonly transfer: Transfer | undefined }> {
    const { work } = this.#invocation
    // the hop that reaches the bound has to answer (F-11)
    const targets = this.#trail.length < this.#config.maxHandoffs ? this.#config.targetsOf(hop.member) : []
    const child = await this.#childOf(hop)
    const run = { ...child, tools: transferTools(targets) }
    const asker = hop.number === 1 && (this.#invocation.followUp === null || child.followUp !== undefined)
    const saying = { member: hop.member, asker: asker ? null : hop.member, followUp: child.followUp?.text ?? null }
    let result: ChildResult
    try {
      result = await work.run(`hop${hop.number}`, run)
    } catch (error) {
      // what the hop had got to is on record, whatever ended it (S-22)
      const got = SluiceError.isInstance(error) ? (error.partial?.messages ?? []) : []
      if (got.length > 0)
        await sayHop(work, got, saying).catch((fault: unknown) =>
          // the error of the hop is the one to tell; a stop comes again here and is no news
          this.#invocation.logger.warn(
            { agentCode: hop.member, fault: String(fault) },
            'what a failed hop had said could not be recorded, or the run was stopped',
          ),
        )
      throw error
    }
    await sayHop(work, result.messages, saying)
    const response = result.output ?? result.text
    if (response !== null && response !== '') this.#answers.push({ agent: hop.member, response })
    return { result, transfer: transferOf(result.messages, targets) }
  }

  async #childOf(hop: Hop): Promise<ChildRun> {
    const { followUp } = this.#invocation
    const { member } = hop
    if (hop.from !== undefined) return this.#fresh(member, await this.#factsOf(hop, hop.from))
    if (followUp === null) return this.#fresh(member, NO_HANDOFF)
    const history = memberHistory(this.#spoken, member)
    if (this.#invocation.earlier?.final_agent_code === member && history.length > 0)
      return { agent: member, followUp: { text: followUp, history } }
    await this.#invocation.work.say([{ role: 'user', content: [{ type: 'text', text: followUp }] }], null)
    return this.#fresh(member, NO_HANDOFF)
  }

  #fresh(member: string, facts: HopFacts): ChildRun {
    const { work, history } = this.#invocation
    const input = hopInput(this.#parameters, facts, this.#members.get(member) as AgentDescription)
    return { agent: member, input, labels: labelsOf(history, work.labels) }
  }

  async #factsOf({ number }: Hop, from: Transfer & { readonly agent: string }): Promise<HopFacts> {
    const { work, logger, agent, history } = this.#invocation
    const transfers = new Set(
      this.#config.members.flatMap((code) => this.#config.targetsOf(code)).map((one) => one.toolName),
    )
    const answers: Answered[] = [...earlierAnswers(this.#spoken, (name) => transfers.has(name)), ...this.#answers]
    const kept = await manageHistory(answers, this.#config.history, managedAnswers(history, work.labels), {
      work,
      logger,
      name: `summary${number}`,
      agentCode: agent.code,
    })
    return {
      handoff_context: from.context,
      handoff_from: from.agent,
      conversation_history: kept.length === 0 ? '' : encode(kept),
    }
  }

  #ended(hop: Hop, { text, output, finishReason }: ChildResult): AgentResult {
    const handoffs = this.#trail.length
    return {
      text,
      output,
      finishReason,
      iterationCount: hop.number,
      details: {
        final_agent_code: hop.member,
        handoff_count: handoffs,
        handoff_trail: this.#trail,
        conversation_history: this.#answers,
        max_handoffs_reached: handoffs >= this.#config.maxHandoffs,
      },
    }
  }
}

/** Strategies over answers: they can be cut anywhere. */
function managedAnswers(history: readonly Message[], besides: ChildResult['labels']): Managed<Answered> {
  return {
    window: (answers, most) => answers.slice(-most),
    cutAt: (answers, keep) => Math.max(0, answers.length - keep),
    told: (answers) => answers,
    labels: () => labelsOf(history, besides),
    replaced: (answers, cut, summary) => [{ agent: 'system', response: summary }, ...answers.slice(cut)],
  }
}
