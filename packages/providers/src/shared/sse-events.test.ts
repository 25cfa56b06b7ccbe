import { exchangeFetch } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { sseEvents } from './sse-events.js'

async function eventsOf(bodyText: string, cuts: readonly number[] = []): Promise<string[]> {
  const { body } = await exchangeFetch({ status: 200, headers: {}, bodyText }, cuts)('http://x')
  const events: string[] = []
  for await (const event of sseEvents(body as ReadableStream<Uint8Array>)) events.push(event)
  return events
}

describe('sseEvents', () => {
  it('gives the data of each event, whatever ends its lines and wherever the bytes are cut', async () => {
    const text =
      ': hello\r\n\r\nevent: x\nid: 1\ndata: {"ä":"🌊"}\n\ndata:two\r\ndata: lines\r\n\r\n\n\ndata: [DONE]\n\n'
    const expected = ['{"ä":"🌊"}', 'two\nlines', '[DONE]']
    const length = Buffer.byteLength(text)
    expect(await eventsOf(text)).toEqual(expected)
    for (let cut = 1; cut < length; cut++) expect(await eventsOf(text, [cut]), `cut at ${cut}`).toEqual(expected)
  })

  it('gives what stands behind the last empty line, and JSON that no field announces', async () => {
    expect(await eventsOf('data: 1\n\ndata: {"half')).toEqual(['1', '{"half'])
    expect(await eventsOf('data: 1\n\n{\n  "error": {\n    "code": 503\n  }\n}\n')).toEqual([
      '1',
      '{\n  "error": {\n    "code": 503\n  }\n}',
    ])
    expect(await eventsOf('<html>\n\nretry: 5\n\n')).toEqual([])
    expect(await eventsOf('')).toEqual([])
  })

  it('lets the connection go where the consumer leaves early', async () => {
    let cancelled = false
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('data: 1\n\ndata: 2\n\n')),
      cancel: () => {
        cancelled = true
      },
    })
    for await (const event of sseEvents(body)) {
      expect(event).toBe('1')
      break
    }
    expect(cancelled).toBe(true)
  })

  it('reads a line of many pieces in time that grows with its length alone', async () => {
    const bodyText = `data: ${'x'.repeat(2_000_000)}\n\n`
    const cuts = Array.from({ length: 4000 }, (_, index) => index * 500)
    expect((await eventsOf(bodyText, cuts))[0]).toHaveLength(2_000_000)
  })
})
