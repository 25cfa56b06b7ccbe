import { describe, expect, it } from 'vitest'
import { errorOf, partsTo, replyTo, streamedReplyTo } from './wire/memory.js'
import { lines } from './wire/ollama-wire.js'
import { adapterOf } from './wire/sent-body.js'
import { called } from './wire/some-requests.js'
import { json } from './wire/wire-reply.js'

const OLLAMA = adapterOf('ollama-chat')
const { wire } = OLLAMA

describe('ollama-chat', () => {
  it('G-14: length and filter are passed through, any other word is a stop, and calls are calls', async () => {
    const reasonOf = async (finish: string, calls?: never) => {
      const { finishReason, rawFinishReason } = await replyTo(OLLAMA, wire.whole({ text: 'x', finish, calls }))
      return [finishReason, rawFinishReason]
    }
    const call = [{ name: 'f', args: '{}' }] as never
    expect(await reasonOf('length')).toEqual(['length', 'length'])
    expect(await reasonOf('content_filter')).toEqual(['content_filter', 'content_filter'])
    expect(await reasonOf('load')).toEqual(['stop', 'load'])
    expect(await reasonOf('stop', call)).toEqual(['tool_calls', 'stop'])
    expect(await reasonOf('unload', call)).toEqual(['tool_calls', 'unload'])
    // a reply that was cut off behind a call is one that was cut off
    expect(await reasonOf('length', call)).toEqual(['length', 'length'])
  })

  it('G-23: calls without ids are numbered over the conversation, plain and streamed', async () => {
    const reply = { calls: [1, 2, 3].map(() => ({ name: 'find', args: '{}' })) }
    const messages = [called('tool_call_1'), called('tool_call_2')]
    for (const { parts } of [
      await replyTo(OLLAMA, wire.whole(reply), { messages }),
      await streamedReplyTo(OLLAMA, wire.stream(reply), { messages }),
    ]) {
      expect(parts.map((part) => part.type === 'tool_call' && part.toolCallId)).toEqual([
        'tool_call_3',
        'tool_call_4',
        'tool_call_5',
      ])
    }
  })

  it('G-W13: a reply of calls alone is one, and its figures are kept', async () => {
    const { parts, usage } = await replyTo(OLLAMA, wire.whole({ calls: [{ id: 'c', name: 'f', args: '' }] }))
    expect(parts).toEqual([{ type: 'tool_call', toolCallId: 'c', toolName: 'f', args: '{}' }])
    expect(usage).toMatchObject({ inputTokens: 21, outputTokens: 5 })
  })

  it('arguments that come as text are taken as they are, names that are none as empty', async () => {
    const message = { content: null, tool_calls: [{ function: { name: 7, arguments: '{"a' } }, 'odd', {}] }
    const { parts } = await replyTo(OLLAMA, json({ message, done: true }))
    expect(parts.map((part) => part.type === 'tool_call' && [part.toolName, part.args])).toEqual([
      ['', '{"a'],
      ['', '{}'],
    ])
  })

  it('an error line inside a stream is that error, in the words of the server', async () => {
    const half = { model: 'm', message: { content: 'Half' }, done: false }
    const error = await errorOf(partsTo(OLLAMA, lines([half, { error: 'the model runner has stopped' }])))
    expect(error).toMatchObject({ code: 'PROVIDER_RESPONSE_ERROR', sent: 'yes' })
    expect(error.message).toContain('the model runner has stopped')
    expect(error.delivered).toEqual({ parts: [{ type: 'text', text: 'Half' }], model: 'm', usage: null })
  })

  it('MODEL_NOT_FOUND is told by its text, also where the name of the model has a dot', async () => {
    for (const text of [
      "model 'qwen3.6:latest' not found",
      'model "llama3.2" not found, try pulling it first',
      'model "a" not found',
    ]) {
      expect(await errorOf(replyTo(OLLAMA, wire.error(404, text, '')))).toMatchObject({ code: 'MODEL_NOT_FOUND' })
    }
    const other = 'The model runs. The file x was not found'
    expect(await errorOf(replyTo(OLLAMA, wire.error(404, other, '')))).toMatchObject({
      code: 'PROVIDER_RESPONSE_ERROR',
    })
  })

  it('a request that is too long is told by its text', async () => {
    const text = 'prompt too long; exceeded max context length by 1119046 tokens'
    expect(await errorOf(replyTo(OLLAMA, wire.error(400, text, '')))).toMatchObject({ code: 'CONTEXT_LENGTH_EXCEEDED' })
  })

  it('nothing that comes behind the closing line changes the reply', async () => {
    const line = (content: string, done: boolean) => ({ model: 'm', message: { content }, done, eval_count: 1 })
    const reply = await streamedReplyTo(OLLAMA, lines([line('a', false), line('b', true), line('c', true)]))
    expect(reply.parts).toEqual([{ type: 'text', text: 'ab' }])
  })
})
