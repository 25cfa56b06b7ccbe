import type { JsonObject, ModelProvider, ModelReply, ModelRequest, Protocol, StreamPart } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { checkNames } from '../check-names.js'
import { testkitError } from '../testkit-error.js'
import { frozenCopy } from './frozen-copy.js'
import type { Playing } from './play-reply.js'
import { playStream, playWhole } from './play-reply.js'
import { playStep } from './play-step.js'
import type { EmulatedProtocol, ProviderRow } from './provider-rows.js'
import { PROVIDER_ROWS } from './provider-rows.js'
import type { Script } from './script.js'
import { createScriptQueue, lastUserText } from './script.js'
import type { ScriptStep } from './script-step.js'
import { quote } from './script-step.js'

/** Options of {@link scriptedProvider}. */
export interface ScriptedProviderOptions {
  /** The part of the model reference before the slash. @default 'scripted' */
  readonly id?: string
  /** False: an answer schema is refused with `SCHEMA_UNSUPPORTED`, as by a protocol that has no structured output. @default true */
  readonly structuredOutput?: boolean
  /** Takes over protocol, defaults and finish reasons of a provider family. */
  readonly emulate?: EmulatedProtocol
  /** @default that of `emulate`, else 'scripted' */
  readonly protocol?: Protocol
  /** @default those of `emulate`, else both 'throw' */
  readonly defaults?: ModelProvider['defaults']
  /** @default none: the runtime then takes the length of the request as JSON */
  readonly inputTokensAtMost?: ModelProvider['inputTokensAtMost']
  /** False keeps no requests and calls, for tests with very many runs. @default true */
  readonly record?: boolean
}

/** One call that a scripted provider got. */
export interface ScriptedCall {
  readonly number: number
  readonly mode: 'generate' | 'stream'
  readonly request: ModelRequest
  readonly signal: AbortSignal
  /** `open` while it is being answered; `abandoned` when the consumer of a stream left it early. */
  readonly outcome: 'open' | 'replied' | 'failed' | 'aborted' | 'abandoned'
}

/** A provider that answers from a script and keeps what it was asked. */
export interface ScriptedProvider extends ModelProvider {
  /** Every request in the order of the calls, frozen. */
  readonly requests: readonly ModelRequest[]
  readonly calls: readonly ScriptedCall[]
  /** Calls that are being answered now. */
  readonly open: number
  /**
   * Throws when the script is not played to its end, or when a call came for which it had no reply, also where the error of
   * that call was swallowed on its way. `@sluice/testkit/vitest` does this by itself at the end of each test.
   *
   * @throws SCRIPT_LEFT_OVER, SCRIPT_EXHAUSTED
   */
  assertDone(): void
}

const OPTIONS = ['id', 'emulate', 'protocol', 'defaults', 'inputTokensAtMost', 'record', 'structuredOutput']

function rowOf(protocol: EmulatedProtocol): ProviderRow {
  if (Object.hasOwn(PROVIDER_ROWS, protocol)) return PROVIDER_ROWS[protocol]
  const known = Object.keys(PROVIDER_ROWS).join(', ')
  throw testkitError('OPTION_UNKNOWN', `"${String(protocol).slice(0, 100)}" cannot be emulated; there are ${known}.`)
}

type MutableCall = { -readonly [Key in keyof ScriptedCall]: ScriptedCall[Key] }

/**
 * Makes a provider that answers from a script, with `generate` and `stream` alike. Each call takes its step at once, so
 * concurrent calls are answered in the order in which they came.
 *
 * @example
 * const provider = scriptedProvider([reply.toolCall('ap_get_invoice', { invoice: 'INV-1002' }), reply('It is open.')])
 *
 * @throws SCRIPT_INVALID, OPTION_UNKNOWN; a call for which no step is left fails with SCRIPT_EXHAUSTED
 */
export function scriptedProvider(script: Script, options: ScriptedProviderOptions = {}): ScriptedProvider {
  const queue = createScriptQueue(script)
  checkNames('The options of scriptedProvider', options, OPTIONS)
  const row: ProviderRow | undefined = options.emulate === undefined ? undefined : rowOf(options.emulate)
  const id = options.id ?? 'scripted'
  const protocol = options.protocol ?? row?.protocol ?? 'scripted'
  const keep = options.record !== false
  const calls: MutableCall[] = []
  const exhausted: string[] = []
  let count = 0
  let open = 0
  let toolCallIds = 0
  const freshId = () => `call_${++toolCallIds}`

  function begin(request: ModelRequest, signal: AbortSignal, mode: ScriptedCall['mode']) {
    const call: MutableCall = {
      number: ++count,
      mode,
      request: keep ? frozenCopy(request) : request,
      signal,
      outcome: 'open',
    }
    if (keep) calls.push(call)
    open += 1
    const step = queue.take(request) ?? tooMany(call)
    const playing: Playing = { provider: id, row, request: call.request, signal, freshId }
    const play = () => playStep(step, { provider: id, request: call.request, number: call.number, mode, signal })
    return { call, playing, play }
  }

  function tooMany(call: ScriptedCall): ScriptStep {
    const asked = lastUserText(call.request)
    const message = `Call ${call.number} of the scripted provider "${id}" has no reply: the script has ${queue.summary}${
      asked === undefined ? '' : `; the last user message is ${quote(asked)}`
    }.`
    exhausted.push(message)
    return { kind: 'throw', value: testkitError('SCRIPT_EXHAUSTED', message, { provider: id, call: call.number }) }
  }

  function end(call: MutableCall, outcome: Exclude<ScriptedCall['outcome'], 'open'>): void {
    if (call.outcome !== 'open') return
    call.outcome = outcome
    open -= 1
  }

  return {
    id,
    protocol,
    defaults: Object.freeze({
      ...(options.defaults ?? row?.defaults ?? { onToolError: 'throw', onToolLimit: 'throw' }),
    }),
    ...(options.inputTokensAtMost === undefined ? {} : { inputTokensAtMost: options.inputTokensAtMost }),
    ...(options.structuredOutput === false ? { checkSchema: refuseOutput(protocol) } : {}),
    async generate(request, signal) {
      const begun = begin(request, signal, 'generate')
      try {
        signal.throwIfAborted()
        const step = await begun.play()
        const reply = step.kind === 'raw' ? (step.value as ModelReply) : await playWhole(step, begun.playing)
        signal.throwIfAborted()
        end(begun.call, 'replied')
        return reply
      } catch (error) {
        end(begun.call, signal.aborted ? 'aborted' : 'failed')
        throw error
      }
    },
    stream(request, signal) {
      const begun = begin(request, signal, 'stream')
      async function* deliver(): AsyncGenerator<StreamPart, void, undefined> {
        try {
          signal.throwIfAborted()
          const step = await begun.play()
          if (step.kind === 'raw') yield { type: 'reply', reply: step.value as ModelReply }
          else yield* playStream(step, begun.playing)
          end(begun.call, 'replied')
        } catch (error) {
          end(begun.call, signal.aborted ? 'aborted' : 'failed')
          throw error
        } finally {
          end(begun.call, 'abandoned')
        }
      }
      return deliver()
    },
    get requests() {
      return calls.map((call) => call.request)
    },
    get calls() {
      return calls.map((call) => ({ ...call }))
    },
    get open() {
      return open
    },
    assertDone() {
      if (exhausted.length > 0) throw testkitError('SCRIPT_EXHAUSTED', exhausted.join('\n'), { provider: id })
      const left = queue.leftOver()
      if (left.length === 0) return
      const listed = left.map((line, index) => `  ${index + 1}. ${line}`).join('\n')
      throw testkitError(
        'SCRIPT_LEFT_OVER',
        `The scripted provider "${id}" was called ${count} ${count === 1 ? 'time' : 'times'} and has ${left.length} left over:\n${listed}`,
        { provider: id, calls: count, leftOver: left.length },
      )
    },
  }
}

function refuseOutput(protocol: Protocol) {
  return (_schema: JsonObject, use: 'tool' | 'output') => {
    if (use === 'output') {
      throw new SluiceError('SCHEMA_UNSUPPORTED', `The protocol ${protocol} has no structured output.`, {
        details: { protocol, path: '' },
      })
    }
  }
}
