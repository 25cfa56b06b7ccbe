import type {
  Documents,
  InspectToolInputContext,
  JsonObject,
  JsonValue,
  PluginHost,
  ResolvedCaller,
} from '@sluice/core'
import { getCaller, getExecutionContext, Pause, Refusal, Veto } from '@sluice/core'
import type { PolicyCode } from '../policy-codes.js'
import { POLICY_CODES } from '../policy-codes.js'
import { digestOf } from './approval-digest.js'
import { gatesText } from './bound-gates.js'
import { approvalKey, asksKey, fromDocument, toDocument } from './approval-record.js'
import type { ApprovalRecord } from './approval-record.js'
import { judgeApproval } from './judge-approval.js'
import type { ApprovalFacts, ApprovalVerdict } from './judge-approval.js'

/** The call that a human has answered about, for `mayDecide`. Frozen. */
export interface PendingApproval {
  readonly effectId: string
  readonly rootExecutionId: string
  readonly agentCode: string | null
  readonly toolCode: string
  readonly effect: 'read' | 'write' | 'send'
  readonly args: JsonObject
  /** Who started the run. */
  readonly caller: ResolvedCaller | null
  readonly tenant: string | null
  readonly decision: 'approve' | 'deny'
  readonly note: string | null
}

/**
 * Says whether `by` may answer about a call. Only `true` lets the answer count; after anything else the run pauses again for
 * somebody else's.
 */
export type MayDecide = (by: string, pending: PendingApproval) => boolean | Promise<boolean>

/** How humans are asked. */
export interface HumanOptions {
  readonly expiresIn: number
  readonly maxAsks: number
  readonly mayDecide?: MayDecide | undefined
  readonly key?: string | undefined
}

/** Why a human is asked; the approver is shown it. */
export interface Question {
  readonly code: PolicyCode
  readonly details: JsonObject
}

/** Asks humans about tool calls and judges their answers, over documents of the plugin. */
export interface HumanGate {
  /** Settles where the call is approved, and uses the approval up. Throws a `Pause`, `Refusal` or `Veto` otherwise. */
  ask(context: InspectToolInputContext, question: Question): Promise<void>
  /** The call was closed: an approval that it used without having run is there again. */
  closed(context: {
    readonly effectId: string
    readonly rootExecutionId: string
    readonly attempt: number
  }): Promise<void>
  /** The run is over: the number of its questions is no longer needed. */
  ended(rootExecutionId: string): Promise<void>
  /** The approvals of a run, in the order of their calls; `'forged'` where a document is none of ours. */
  list(rootExecutionId: string): Promise<readonly (ApprovalRecord | 'forged')[]>
}

const PAGE = 1_000

export function createHumanGate(host: Pick<PluginHost, 'storage'>, options: HumanOptions): HumanGate {
  const { documents } = host.storage
  const { key } = options
  return {
    async ask(context, question) {
      const shown = shownTo(context, question)
      // outside a run nobody can be waited for: core makes a veto of it, and nothing is left in the store
      if (context.executionId === null) throw new Pause(question.code, { details: shown })
      const facts: ApprovalFacts = {
        rootExecutionId: context.rootExecutionId,
        effectId: context.effectId,
        attempt: context.attempt,
        binding: bindingOf(context),
        shown: digestOf(shown),
        decision: context.decision,
        mayDecide: await mayDecide(context, options.mayDecide),
      }
      const verdict = await judgeInStore(documents, facts, options, context.signal)
      answer(verdict, question, shown)
    },
    async closed({ effectId, rootExecutionId, attempt }) {
      await documents.update(approvalKey(rootExecutionId, effectId), (current) => {
        const record = fromDocument(current, effectId, key)
        if (typeof record !== 'object' || record.state !== 'consumed' || record.consumed?.attempt !== attempt)
          return current
        return toDocument({ ...record, state: 'granted', consumed: null }, key)
      })
    },
    async ended(rootExecutionId) {
      await documents.delete(asksKey(rootExecutionId))
    },
    async list(rootExecutionId) {
      const found: (ApprovalRecord | 'forged')[] = []
      let after: string | undefined
      do {
        const page = await documents.list(['approval', rootExecutionId], {
          limit: PAGE,
          ...(after === undefined ? {} : { after }),
        })
        for (const { key: place, value } of page.items) {
          const record = fromDocument(value, place[2] ?? '', key)
          if (record !== 'absent') found.push(record)
        }
        after = page.next ?? undefined
      } while (after !== undefined)
      return found
    },
  }
}

async function judgeInStore(
  documents: Documents,
  facts: ApprovalFacts,
  options: HumanOptions,
  signal: AbortSignal,
): Promise<ApprovalVerdict> {
  const { rootExecutionId, effectId } = facts
  return documents.transact<ApprovalVerdict>(
    [approvalKey(rootExecutionId, effectId), asksKey(rootExecutionId)],
    (current, at) => {
      const record = fromDocument(current[0], effectId, options.key)
      if (record === 'forged') {
        const verdict = { kind: 'stop', code: 'APPROVAL_FORGED', details: { effectId } } as const
        return { next: current, result: verdict }
      }
      const before = record === 'absent' ? undefined : record
      const asks = asksOf(current[1])
      const step = judgeApproval(before, asks, at, facts, options)
      const next =
        step.record === before || step.record === undefined ? current[0] : toDocument(step.record, options.key)
      return { next: [next, step.asks === asks ? current[1] : { asks: step.asks }], result: step.verdict }
    },
    { signal },
  )
}

/** A count that cannot be read lets no more questions through. */
function asksOf(value: JsonValue | undefined): number {
  if (value === undefined) return 0
  const asks = value !== null && typeof value === 'object' && 'asks' in value ? value.asks : undefined
  return typeof asks === 'number' && Number.isSafeInteger(asks) && asks >= 0 ? asks : Number.MAX_SAFE_INTEGER
}

/** What the approver sees; its digest is bound. */
function shownTo(context: InspectToolInputContext, { details }: Question): JsonObject {
  const { toolCode, tool, agentCode, createdBy, tenant, args } = context
  return { tool: toolCode, effect: tool.effect, agent: agentCode, requestedBy: createdBy, tenant, args, ...details }
}

function bindingOf(context: InspectToolInputContext): Readonly<Record<string, string>> {
  const { runContext } = getExecutionContext()
  return {
    tenant: JSON.stringify(context.tenant),
    rootExecutionId: context.rootExecutionId,
    effectId: context.effectId,
    // the id of an agent is that of one version of it
    agent: JSON.stringify([context.agentCode, context.agentId]),
    tool: context.toolCode,
    toolDefinition: context.tool.definitionDigest,
    arguments: digestOf(context.args),
    runContext: digestOf(runContext as JsonObject),
    caller: digestOf(getCaller() as unknown as JsonValue),
    gatePlugins: gatesText(context.gatePlugins),
  }
}

/** By default, the one who started a run may not approve what it writes or sends. */
async function mayDecide(context: InspectToolInputContext, rule: MayDecide | undefined): Promise<boolean> {
  const { decision, effectId, rootExecutionId, agentCode, toolCode, tool, args, tenant, createdBy } = context
  if (decision === undefined) return false
  const caller = getCaller()
  if (rule !== undefined) {
    const pending = { effectId, rootExecutionId, agentCode, toolCode, effect: tool.effect, args, caller, tenant }
    return (
      (await rule(decision.by, Object.freeze({ ...pending, decision: decision.decision, note: decision.note }))) ===
      true
    )
  }
  if (decision.decision === 'deny' || tool.effect === 'read') return true
  const decider = folded(decision.by)
  return ![createdBy, caller?.user].some((name) => typeof name === 'string' && folded(name) === decider)
}

/** A name as people would take it for the same: neither case, nor width, nor space, nor what is not seen makes another person. */
function folded(name: string): string {
  return name
    .normalize('NFKC')
    .replace(/[\s\p{Cf}\p{Default_Ignorable_Code_Point}]+/gu, '')
    .toLowerCase()
}

function answer(verdict: ApprovalVerdict, question: Question, shown: JsonObject): void {
  if (verdict.kind === 'pass') return
  if (verdict.kind === 'stop') {
    const { code, details } = verdict
    const by = typeof details.by === 'string' ? ` It was decided by ${JSON.stringify(details.by)}.` : ''
    throw new Veto(code, `${POLICY_CODES[code].meaning}${by}`, details)
  }
  const { record } = verdict
  if (verdict.kind === 'refuse') {
    const note = record.decision?.note
    if (verdict.code === 'DENIED')
      throw new Refusal(
        'DENIED',
        note === null || note === undefined || note === '' ? 'A human denied this call.' : note,
      )
    throw new Refusal(verdict.code, 'The time to approve this call is over; it was not run.')
  }
  const refused: JsonObject = verdict.refused === null ? {} : { refused: { ...verdict.refused } }
  const details: JsonObject = { ...shown, shown: record.shown, ask: record.ask, ...refused }
  throw new Pause(verdict.refused === null ? question.code : 'APPROVAL_DECIDER', {
    expiresAt: record.expiresAt,
    details,
  })
}
