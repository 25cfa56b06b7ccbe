import type { ModelProvider, ModelReply } from '@sluice/core'
import { defineTool, refuse, Veto } from '@sluice/core'
import type { FakeClock } from '@sluice/testkit'
import { SCRIPTED_USAGE } from '@sluice/testkit'
import { z } from 'zod'
import { perform } from './actor.js'
import type { CallShape } from './composition.js'
import { TIMES } from './composition.js'
import { ANSWER } from './play-account.js'
import type { Playing } from './playing.js'
import { draw, pathOf } from './playing.js'

/** The provider and the tools of all plays of one runtime: what they do, the play of the moment says. */
export class PlayWorld {
  readonly #clock: FakeClock
  readonly #playing: () => Playing

  constructor(clock: FakeClock, playing: () => Playing) {
    this.#clock = clock
    this.#playing = playing
  }

  tools() {
    return TOOL_CODES.map((code) => this.#tool(code))
  }

  provider(): ModelProvider {
    const answer = async (model: string, offered: number, signal: AbortSignal): Promise<ModelReply> => {
      const playing = this.#playing()
      const side = model === 'side'
      playing.started.push(side ? 'side' : 'model')
      const first = !side && playing.requests++ === 0
      const ms = side ? TIMES.sideReplyMs : playing.shape.replyMs[first ? 0 : 1]
      if (ms > 0) await this.#wait(ms, signal, playing.shape.honoursSignal)
      const calls = first && offered > 0 ? playing.shape.calls : []
      return {
        parts: [
          { type: 'text', text: ANSWER },
          ...calls.map(
            (call, place) =>
              ({
                type: 'tool_call',
                toolCallId: `c${place}`,
                toolName: toolCode(call, place),
                args: '{"text":"x"}',
              }) as const,
          ),
        ],
        finishReason: calls.length > 0 ? 'tool_calls' : 'stop',
        usage: SCRIPTED_USAGE,
        model,
      }
    }
    return {
      id: 'scripted',
      protocol: 'scripted',
      defaults: { onToolError: 'throw', onToolLimit: 'throw' },
      generate: (request, signal) => answer(request.model, request.tools.length, signal),
      async *stream(request, signal) {
        const reply = await answer(request.model, request.tools.length, signal)
        yield { type: 'text_delta', text: ANSWER }
        yield { type: 'reply', reply }
      },
    }
  }

  /** A tool for each place in the round and each kind: what it does, the composition of the moment says. */
  #tool(code: string) {
    const place = Number(code[1]) - 1
    const effect = code.includes('r') ? 'read' : code.includes('w') ? 'write' : 'send'
    return defineTool({
      code,
      description: 'Does something.',
      effect,
      input: z.object({ text: z.string() }),
      ...(code.endsWith('a') ? { authorize: (_args, tool) => this.#authorize(place, tool) } : {}),
      handler: (_args, tool) => this.#handle(place, tool.signal),
    } as Parameters<typeof defineTool>[0])
  }

  #authorize(place: number, tool: { readonly effectId: string }): void {
    const playing = this.#playing()
    const acts = (playing.shape.calls[place] as CallShape).authorize
    const act = draw(playing, `tool:t${place + 1}`, acts)
    playing.asked.push(`${pathOf(playing, tool.effectId)} authorize tool:t${place + 1}`)
    return perform(act, TIMES.authorizeTimeoutMs, playing.around, tool) as undefined
  }

  #handle(place: number, signal: AbortSignal): unknown {
    const playing = this.#playing()
    const { ms, ends } = playing.shape.calls[place] as CallShape
    playing.started.push(`t${place + 1}`)
    const end = () => {
      if (ends === 'vetoes') throw new Veto('HANDLER_SAYS_NO', 'The handler stops the run.')
      if (ends === 'throws') throw new Error('a bug in a handler')
      return ends === 'refuses' ? REFUSAL : 'done'
    }
    return ms === 0 ? end() : this.#wait(ms, signal, playing.shape.honoursSignal).then(end)
  }

  #wait(ms: number, signal: AbortSignal, honours: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.#clock.setTimeout(resolve, ms)
      signal.addEventListener('abort', () => {
        timer.cancel()
        if (honours) reject(signal.reason)
      })
    })
  }
}

const REFUSAL = refuse('Not today.')
const TOOL_CODES = ['t1', 't2', 't3'].flatMap((place) =>
  ['r', 'w', 's'].flatMap((kind) => [`${place}${kind}`, `${place}${kind}a`]),
)
const KIND_LETTER = { read: 'r', write: 'w', send: 's' } as const
const toolCode = (call: CallShape, place: number) =>
  `t${place + 1}${KIND_LETTER[call.effect]}${call.authorize.length === 0 ? '' : 'a'}`
