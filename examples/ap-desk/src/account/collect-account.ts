import type { Message, PartialRun, Receipt, Run, Runtime, ToolCallRecord } from '@sluice/core'
import { SluiceError, USAGE_NONE, Veto } from '@sluice/core'
import { audit } from '@sluice/hooks-audit'
import { budget } from '@sluice/hooks-budget'
import { DESK_MONTH } from '../gates/guards.js'
import type { Scene } from '../scenes/scene.js'
import { SERVICE_USER } from '../scenes/service-user.js'
import type { Account, Books, EffectAccount, Ending, Note, ToolAccount } from './account.js'

/** What is known when a scene has been played. */
export interface Played {
  readonly scene: Scene
  readonly model: string
  readonly runtime: Runtime
  readonly ended: { readonly run: Run } | { readonly error: unknown }
  readonly notes: readonly Note[]
  readonly before: Books
  readonly after: Books
}

/** Reads back what the store has of the run, as the caller who started it, and puts it beside what the caller got. */
export async function collectAccount({ runtime, ended, scene, before, after, ...rest }: Played): Promise<Account> {
  const had: Partial<PartialRun> = 'run' in ended ? ended.run : partialOf(ended.error)
  const { executionId, messages = [], toolCalls = [], usage = USAGE_NONE } = had
  const scope = scene.caller.user === undefined ? { tenant: null } : runtime.as(scene.caller).scope
  const row = executionId === undefined ? null : await runtime.executions.get(executionId, { scope })
  const receipts = row === null ? [] : await runtime.executions.receipts(row.rootExecutionId, { scope })
  const references = toolCalls.flatMap((call) => call.errorReference ?? [])
  return {
    ...rest,
    scene,
    createdBy: row?.createdBy ?? scene.caller.user ?? SERVICE_USER,
    effects: receipts.map(toEffect),
    tools: toolCalls.map((call) => toTool(call, messages)),
    text: 'run' in ended ? ended.run.text : null,
    usage,
    ending: toEnding(ended),
    row,
    books: { before, after, committed: 'run' in ended },
    month: (await runtime.plugin(budget).status({})).find(({ limit }) => limit === DESK_MONTH),
    log: await runtime.plugin(audit).verify(),
    errors: await Promise.all(references.map((reference) => runtime.executions.toolError(reference, { scope }))),
  }
}

function partialOf(error: unknown): Partial<PartialRun> {
  return (SluiceError.isInstance(error) ? error.partial : undefined) ?? {}
}

export function toEffect({ effect, subject, attempt, askings, outcome, sent, agentCode }: Receipt): EffectAccount {
  return {
    effect,
    subject: subject ?? agentCode ?? effect,
    attempt,
    gates: askings.at(-1)?.gates ?? [],
    askings: askings.length,
    outcome,
    sent,
  }
}

function toTool(
  { callId, toolCode, status, errorReference }: ToolCallRecord,
  messages: readonly Message[],
): ToolAccount {
  const asked = messages
    .flatMap((message) => (message.role === 'assistant' ? message.content : []))
    .find((part) => part.type === 'tool_call' && part.toolCallId === callId)
  const answered = messages
    .flatMap((message) => (message.role === 'tool' ? message.content : []))
    .find((part) => part.toolCallId === callId)
  return {
    toolCode,
    status,
    args: asked?.type === 'tool_call' ? asked.args : '{}',
    result: answered?.result ?? null,
    errorReference: errorReference ?? null,
  }
}

export function toEnding(ended: Played['ended']): Ending {
  if ('run' in ended) {
    const { status, finishReason } = ended.run
    return { code: status, by: null, message: null, finishReason }
  }
  const { error } = ended
  if (!SluiceError.isInstance(error)) {
    return { code: 'unknown', by: null, message: String(error), finishReason: null }
  }
  const by = Veto.isInstance(error) && error.by !== undefined ? `${error.by.plugin} at ${error.by.point}` : null
  return { code: error.code, by, message: error.message, finishReason: null }
}
