import type { GateReceipt, Receipt, Run, RunEvent, Store } from '@sluice/core'
import { SluiceError, Veto } from '@sluice/core'
import type { Account, ReceiptAccount } from './account.js'
import type { Playing } from './playing.js'
import { pathOf } from './playing.js'

/** What the provider of a play answers. */
export const ANSWER = 'The answer.'

/** Everything that can be told of the run from outside, once it has ended. */
export async function accountOf(
  store: Store,
  playing: Playing,
  { run, error }: { run?: Run; error?: unknown },
): Promise<Account> {
  const stored = playing.root === '' ? [] : await store.receipts.list(playing.root)
  const receipts: Record<string, ReceiptAccount> = {}
  for (const receipt of stored as unknown as readonly Receipt[]) {
    const key = `${pathOf(playing, receipt.effectId)}#${receipt.attempt}`
    if (Object.hasOwn(receipts, key)) throw new Error(`two receipts for ${key}`)
    receipts[key] = receiptAccount(receipt)
  }
  const partial = SluiceError.isInstance(error) ? error.partial : run
  const { effects, asked, passed, stopped } = partial?.receipts ?? { effects: -1, asked: -1, passed: -1, stopped: -1 }
  const pending = (run?.pending ?? []) as readonly { readonly effectId: string }[]
  return {
    result: resultOf(run, error),
    pending: pending.map(({ effectId }) => pathOf(playing, effectId)),
    asked: playing.asked,
    started: playing.started,
    closings: [...agreed('closings', playing.closings)].sort(),
    stops: agreed('stops', playing.stops),
    afterExecution: agreed('afterExecution', playing.after),
    receipts,
    counts: { effects, asked, passed, stopped },
    toolCalls: (partial?.toolCalls ?? []).map(({ toolCode, status }) => `${toolCode.slice(0, 2)} ${status}`),
    events: playing.shape.stream ? playing.events : undefined,
  }
}

const EVENTS = new Set(['assistant_text', 'tool_call', 'tool_result', 'response_complete'])

/** Notes an event of a streamed run. */
export function noteEvent(playing: Playing, event: RunEvent): void {
  if (EVENTS.has(event.type)) playing.events.push(event.type)
}

function receiptAccount({ outcome, sent, askings }: Receipt): ReceiptAccount {
  const lines = askings.map(({ gates }) => gates.map(gateLine)).filter((rows) => rows.length > 0)
  return { outcome, sent, askings: lines }
}

function gateLine({ plugin, point, answer, code }: GateReceipt): string {
  const name = plugin.startsWith('tool:') ? plugin.slice(0, 7) : plugin
  return `${name} ${point} ${answer}${code === undefined ? '' : ` ${code}`}`
}

function resultOf(run: Run | undefined, error: unknown): string {
  if (run !== undefined) {
    if (run.status === 'completed' && run.text !== ANSWER) return `completed with ${String(run.text)}`
    return run.status
  }
  if (!SluiceError.isInstance(error)) return `threw ${String(error)}`
  if (error.code === 'RUN_ABORTED') return 'aborted RUN_ABORTED'
  return `${Veto.isInstance(error) ? 'veto' : error.code === 'HOOK_FAILED' ? 'hook' : 'other'} ${error.code}`
}

/** What each plugin saw, which has to be the same for all. */
function agreed(what: string, seen: readonly (readonly string[])[]): readonly string[] {
  const [first = []] = seen
  for (const other of seen)
    if (other.join('\n') !== first.join('\n'))
      throw new Error(`plugins saw different ${what}:\n${first.join('\n')}\n---\n${other.join('\n')}`)
  return first
}
