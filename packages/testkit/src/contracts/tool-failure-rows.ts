import assert from 'node:assert/strict'
import type { ModelProvider } from '@sluice/core'
import { definePlugin, HookFailedError, SluiceError, Veto } from '@sluice/core'
import { failingPlugin } from '../plugins/failing-plugin.js'
import type { EmulatedProtocol } from '../script/provider-rows.js'
import { PROVIDER_ROWS } from '../script/provider-rows.js'
import type { ContractRow } from './contract-row.js'
import type { CallOutcome, CallSetup, MakeWiredProvider, ToolFailureOptions } from './tool-failure-rig.js'
import { callReplayed } from './tool-failure-rig.js'

const SECRET = 'ORA-00942: table AP_SECRET does not exist'
const FAILS_CLOSED = ['throw', 'throw-string', 'reject-undefined', 'return-false', 'hang'] as const

const vetoes = definePlugin({
  name: 'contract-veto',
  hookApi: 1,
  apply: (hooks) =>
    hooks.beforeToolCall.tap('veto', () => {
      throw new Veto('CONTRACT_VETO', 'The contract vetoes this call.')
    }),
})

const fails = () => {
  throw new Error(SECRET)
}

/**
 * What happens on a provider when a tool is vetoed, when a gate fails, when a handler throws and when the bound of tool calls
 * is met, on the shipped fixtures, held to the row of the provider (design 4.4). `describeToolFailures` runs them under vitest.
 */
export function toolFailureRows(
  makeProvider: MakeWiredProvider,
  options: ToolFailureOptions = {},
): readonly ContractRow[] {
  const call = (setup: CallSetup) => callReplayed(makeProvider, options, setup)
  const rowOf = async (): Promise<ModelProvider['defaults']> => {
    if (options.row !== undefined) return options.row
    const protocol = options.protocol ?? (await makeProvider({ apiKey: 'no-key-needed' })).protocol
    const row = Object.hasOwn(PROVIDER_ROWS, protocol) ? PROVIDER_ROWS[protocol as EmulatedProtocol] : undefined
    return row?.defaults ?? assert.fail(`there is no row for the protocol ${protocol}; give one as \`row\``)
  }

  return [
    {
      title: 'says of itself what its row says',
      async run() {
        assert.deepEqual({ ...(await makeProvider({ apiKey: 'no-key-needed' })).defaults }, { ...(await rowOf()) })
      },
    },
    ...(['throw', 'return', 'provider'] as const).map(
      (onToolError): ContractRow => ({
        title: `H-19, H-20: a veto ends the call, nothing runs and nothing more is sent (onToolError: ${onToolError})`,
        async run() {
          const outcome = await call({ situation: 'veto', plugins: [vetoes()], settings: { onToolError } })
          assertVeto(outcome, 'CONTRACT_VETO', 0)
        },
      }),
    ),
    {
      title: 'a handler that throws a Veto ends the call, and the model never reads of it',
      async run() {
        const handler = () => {
          throw new Veto('HANDLER_VETO', 'No more of this.')
        }
        for (const onToolError of ['throw', 'return', 'provider'] as const) {
          assertVeto(await call({ situation: 'veto', handler, settings: { onToolError } }), 'HANDLER_VETO', 1)
        }
      },
    },
    ...FAILS_CLOSED.map(
      (as): ContractRow => ({
        title: `CASE-01: a gate that does "${as}" ends the call, nothing runs and nothing more is sent`,
        async run() {
          for (const point of ['beforeToolCall', 'inspectToolInput'] as const) {
            const { error, handled, requests } = await call({
              situation: 'veto',
              plugins: [failingPlugin({ point, as, timeoutMs: 20 })],
              settings: { onToolError: 'return' },
            })
            assert.ok(HookFailedError.isInstance(error), `${point}: expected HOOK_FAILED, got ${String(error)}`)
            assert.deepEqual([handled.length, requests.length], [0, 1])
          }
        },
      }),
    ),
    {
      title: 'G-37: when a handler throws, the provider does what its row says',
      async run() {
        const outcome = await call({ situation: 'handler-failure', handler: fails })
        await ((await rowOf()).onToolError === 'throw' ? assertThrown(outcome) : assertReturned(outcome))
      },
    },
    {
      title: 'CASE-15: one setting makes all providers equal: throw',
      run: async () =>
        assertThrown(await call({ situation: 'handler-failure', handler: fails, settings: { onToolError: 'throw' } })),
    },
    {
      title: 'CASE-15: one setting makes all providers equal: return, and the model reads a reference only',
      run: async () =>
        assertReturned(
          await call({ situation: 'handler-failure', handler: fails, settings: { onToolError: 'return' } }),
        ),
    },
    {
      title: 'B-20: the model reads the raw error only when that was asked for',
      async run() {
        const settings = { onToolError: 'return', exposeToolErrors: true } as const
        const { requests } = await call({ situation: 'handler-failure', handler: fails, settings })
        assert.ok(JSON.stringify(requests[1]?.body).includes(SECRET), 'the raw text is not in the second request')
      },
    },
    {
      title: 'G-33: at the bound of tool calls the provider does what its row says',
      async run() {
        const outcome = await call({ situation: 'limit', maxToolCalls: 1 })
        assertLimit(outcome, (await rowOf()).onToolLimit)
      },
    },
    ...(['throw', 'finish'] as const).map(
      (onToolLimit): ContractRow => ({
        title: `G-34: one setting makes all providers equal at the bound: ${onToolLimit}`,
        async run() {
          assertLimit(await call({ situation: 'limit', maxToolCalls: 1, settings: { onToolLimit } }), onToolLimit)
        },
      }),
    ),
    {
      title: 'G-35: a bound that is not met changes nothing',
      async run() {
        const { result, handled, requests } = await call({ situation: 'limit', maxToolCalls: 2 })
        assert.deepEqual(handled, ['ap_get_invoice', 'ap_list_open_invoices'])
        assert.deepEqual([result?.finishReason, requests.length], ['stop', 3])
      },
    },
  ]
}

function assertVeto({ error, handled, requests }: CallOutcome, code: string, entered: number): void {
  assert.ok(Veto.isInstance(error, code), `expected the veto ${code}, got ${String(error)}`)
  assert.deepEqual([handled.length, requests.length], [entered, 1], 'a handler ran, or another request was made')
}

async function assertThrown({ error, handled, requests, store }: CallOutcome): Promise<void> {
  assert.ok(SluiceError.isInstance(error, 'TOOL_FAILED'), `expected TOOL_FAILED, got ${String(error)}`)
  assert.deepEqual([handled, requests.length], [['ap_approve_invoice'], 1])
  await assertOnRecord(String(error.details?.errorReference), store)
}

async function assertReturned({ result, error, handled, requests, store }: CallOutcome): Promise<void> {
  assert.equal(error, undefined)
  assert.deepEqual([handled, requests.length, result?.finishReason], [['ap_approve_invoice'], 2, 'stop'])
  const sent = JSON.stringify(requests[1]?.body)
  assert.ok(!sent.includes(SECRET) && !sent.includes('AP_SECRET'), 'the model reads the raw error')
  const reference = result?.toolCalls[0]?.errorReference ?? ''
  assert.ok(sent.includes(reference) && reference.startsWith('ERR-'), 'the model does not read the error reference')
  await assertOnRecord(reference, store)
}

async function assertOnRecord(reference: string, store: CallOutcome['store']): Promise<void> {
  assert.equal(
    (await store.toolErrors.get(reference))?.message,
    SECRET,
    `the true error is not on record under ${reference}`,
  )
}

function assertLimit({ result, error, handled, requests }: CallOutcome, policy: 'throw' | 'finish'): void {
  assert.deepEqual([handled, requests.length], [['ap_get_invoice'], 2], 'not exactly one call ran')
  if (policy === 'throw')
    assert.ok(SluiceError.isInstance(error, 'MAX_TOOL_CALLS'), `expected MAX_TOOL_CALLS, got ${String(error)}`)
  else assert.equal(result?.finishReason, 'max_tool_calls_exceeded', `it ended otherwise: ${String(error)}`)
}
