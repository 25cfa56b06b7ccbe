import assert from 'node:assert/strict'
import type { Message, ModelReply } from '@sluice/core'
import { totalInput } from '@sluice/core'
import type { ContractRow } from './contract-row.js'
import type { AnswerPair, MakeProvider, ProviderFixtures } from './provider-rig.js'
import { aRequest, callsOf, readStream, textsOf, withRig } from './provider-rig.js'

const never = () => new AbortController().signal

/** What is understood of answers, and what is asked for. */
export function providerReplyRows(make: MakeProvider, fixtures: ProviderFixtures): readonly ContractRow[] {
  return [
    textRow(make, fixtures),
    callsRow(make, fixtures),
    capRow(make, fixtures),
    measureRow(make, fixtures),
    usageRow(make, fixtures),
    idsRow(make, fixtures),
    reasoningRow(make, fixtures),
    roundRow(make, fixtures),
  ]
}

function textRow(make: MakeProvider, { text }: ProviderFixtures): ContractRow {
  return {
    title: 'a text is the same plain and as a stream, which ends with exactly one reply; its request is left as it was',
    run: () =>
      withRig(make, async ({ server, provider, request }) => {
        const before = JSON.stringify(request)
        server.answer(text.whole)
        const whole = await provider.generate(request, never())
        server.answer(text.stream)
        const { deltas, replies, endedWithReply } = await readStream(provider, request)
        assert.equal(replies.length, 1, `the stream gave ${replies.length} replies`)
        assert.ok(endedWithReply, 'the reply was not the last part of the stream')
        for (const reply of [whole, ...replies]) {
          assert.equal(textsOf(reply.parts, 'text'), text.text)
          assert.equal(reply.finishReason, 'stop')
          assert.equal(totalInput(reply.usage), text.usage.input)
          assert.equal(reply.usage.outputTokens, text.usage.output)
          assertJson(reply)
        }
        assert.equal(deltas.map((part) => (part.type === 'text_delta' ? part.text : '')).join(''), text.text)
        assert.equal(JSON.stringify(request), before)
      }),
  }
}

function callsRow(make: MakeProvider, { calls }: ProviderFixtures): ContractRow {
  return {
    title: 'several calls of one reply keep their order, names and arguments, and have ids of their own',
    run: () =>
      withRig(make, async ({ server, provider, request }) => {
        for (const reply of await bothWays(calls)) {
          const seen = callsOf(reply.parts)
          assert.deepEqual(
            seen.map(({ name, args }) => ({ name, args })),
            calls.calls,
          )
          assert.equal(new Set(seen.map(({ id }) => id)).size, seen.length, 'two calls have one id')
          assert.ok(seen.every(({ id }) => id !== ''))
          assert.equal(reply.finishReason, 'tool_calls')
        }

        async function bothWays(pair: AnswerPair): Promise<ModelReply[]> {
          server.answer(pair.whole)
          const whole = await provider.generate(request, never())
          server.answer(pair.stream)
          return [whole, ...(await readStream(provider, request)).replies]
        }
      }),
  }
}

function capRow(make: MakeProvider, { text }: ProviderFixtures): ContractRow {
  return {
    title: 'every request carries an explicit output cap, plain and as a stream',
    run: () =>
      withRig(make, async ({ server, provider, request }) => {
        server.answer(text.whole)
        await provider.generate(request, never())
        server.answer(text.stream)
        await readStream(provider, request)
        for (const { body } of server.requests) {
          assert.ok(JSON.stringify(JSON.parse(body)).includes('4321'), 'the cap of 4321 tokens is not in the body')
        }
      }),
  }
}

function measureRow(make: MakeProvider, { text }: ProviderFixtures): ContractRow {
  return {
    title: 'the bound of input tokens is the length of the body in bytes, and null or a bound of its kind for files',
    run: () =>
      withRig(make, async ({ server, provider, request }) => {
        if (provider.inputTokensAtMost === undefined) return
        const most = provider.inputTokensAtMost(request)
        server.answer(text.whole)
        await provider.generate(request, never())
        assert.equal(most, Buffer.byteLength(server.requests[0]?.body ?? ''))
        const pdf = { type: 'file', mediaType: 'application/pdf', data: 'JVBERi0=' } as const
        const filed = provider.inputTokensAtMost(aRequest({ messages: [{ role: 'user', content: [pdf] }] }))
        assert.ok(filed === null || filed > 1000, `a PDF counts as ${filed} tokens at most`)
      }),
  }
}

function usageRow(make: MakeProvider, { withoutUsage }: ProviderFixtures): ContractRow {
  return {
    title: 'CASE-12: usage that is not reported is not 0',
    ...skipWithout(withoutUsage),
    run: () =>
      withRig(make, async ({ server, provider, request }) => {
        server.answer(withoutUsage as NonNullable<typeof withoutUsage>)
        const { usage } = await provider.generate(request, never())
        assert.equal(usage.unreportedCalls, 1)
        assert.equal(usage.inputTokens, null)
        assert.equal(usage.outputTokens, null)
      }),
  }
}

function idsRow(make: MakeProvider, { repeatedIds }: ProviderFixtures): ContractRow {
  return {
    title: 'CASE-16: ids that a provider leaves out or repeats become unique, also against the history',
    ...skipWithout(repeatedIds),
    run: () =>
      withRig(make, async ({ server, provider, request }) => {
        const answer = repeatedIds as NonNullable<typeof repeatedIds>
        server.answer(answer)
        const first = await provider.generate(request, never())
        server.answer(answer)
        const second = await provider.generate(aRequest({ messages: [...request.messages, ...round(first)] }), never())
        const ids = [...callsOf(first.parts), ...callsOf(second.parts)].map(({ id }) => id)
        assert.ok(ids.length > 2)
        assert.equal(new Set(ids).size, ids.length, `ids: ${ids.join(', ')}`)
      }),
  }
}

function reasoningRow(make: MakeProvider, { text, reasoning }: ProviderFixtures): ContractRow {
  return {
    title: 'reasoning goes back to the provider that gave it, and to no other',
    ...skipWithout(reasoning),
    run: () =>
      withRig(make, async ({ server, provider, request }) => {
        const { whole, marker } = reasoning as NonNullable<typeof reasoning>
        server.answer(whole)
        const reply = await provider.generate(request, never())
        const next = aRequest({ messages: [...request.messages, ...round(reply)] })
        const other = make({ baseUrl: server.url, apiKey: CONTRACT_OTHER_KEY, id: 'another-provider' })
        for (const each of [provider, other]) {
          server.answer(text.whole)
          await each.generate(next, never())
        }
        await other.close?.()
        assert.ok(server.requests[1]?.body.includes(marker), 'the marker did not go back to the same provider')
        assert.ok(!server.requests[2]?.body.includes(marker), 'the marker went to another provider')
      }),
  }
}

const CONTRACT_OTHER_KEY = 'sk-contract-other-98765432'

function roundRow(make: MakeProvider, { text, calls }: ProviderFixtures): ContractRow {
  return {
    title: 'CASE-15, CASE-16: the results of a round go back, each with its call, whatever became of it',
    run: () =>
      withRig(make, async ({ server, provider, request }) => {
        server.answer(calls.whole)
        const reply = await provider.generate(request, never())
        server.answer(text.whole)
        await provider.generate(aRequest({ messages: [...request.messages, ...round(reply)] }), never())
        const body = server.requests[1]?.body ?? ''
        for (const { result } of resultsOf(reply)) assert.ok(body.includes(result), `"${result}" did not go back`)
        for (const { name } of calls.calls) assert.ok(body.includes(`"${name}"`), `the call of ${name} did not go back`)
      }),
  }
}

/** The reply as history, and the results of its calls: one went well, the others did not. */
function round(reply: ModelReply): readonly Message[] {
  const results = resultsOf(reply)
  const answer: Message = { role: 'assistant', content: reply.parts }
  return results.length === 0 ? [answer] : [answer, { role: 'tool', content: results }]
}

function resultsOf(reply: ModelReply) {
  return callsOf(reply.parts).map(({ id, name }, index) => ({
    type: 'tool_result' as const,
    toolCallId: id,
    toolName: name,
    result: `result ${index} of ${name}`,
    status: index === 0 ? ('ok' as const) : ('error' as const),
  }))
}

function assertJson(reply: ModelReply): void {
  assert.deepEqual(JSON.parse(JSON.stringify(reply)), reply, 'the reply does not survive JSON')
}

function skipWithout(fixture: unknown): Partial<ContractRow> {
  return fixture === undefined ? { skip: true } : {}
}
