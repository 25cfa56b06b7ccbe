import { describe, expect, it } from 'vitest'
import { AnswerTooLarge, boundedBodyOf, boundedText } from './bounded-answer.js'

/** An answer that goes on for ever, and notes how many pieces of 10 bytes were taken and whether it was let go. */
function endless(headers: Record<string, string> = {}) {
  const state = { pieces: 0, cancelled: false }
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      state.pieces += 1
      controller.enqueue(new TextEncoder().encode('0123456789'))
    },
    cancel() {
      state.cancelled = true
    },
  })
  return { state, response: new Response(body, { headers }) }
}

describe('the bound of an answer', () => {
  it('ends the reading at the first piece beyond it, and lets the connection go', async () => {
    const { state, response } = endless()
    await expect(boundedText(response, 95)).rejects.toThrow(AnswerTooLarge)
    expect(state.cancelled).toBe(true)
    expect(state.pieces).toBeLessThan(15)
  })

  it('holds for what unpacks to more than its length says, and for a length that is no number', async () => {
    const lies: Array<Record<string, string>> = [
      { 'content-length': '5', 'content-encoding': 'gzip' },
      { 'content-length': '5e0' },
    ]
    for (const headers of lies) {
      await expect(boundedText(endless(headers).response, 95)).rejects.toThrow('longer than 95 bytes')
    }
  })

  it('lets a body of exactly that length pass whole', async () => {
    const read = (most: number) => new Response(boundedBodyOf(new Response('ä'.repeat(5)), most)).text()
    expect(await read(10)).toBe('äääää')
    await expect(read(9)).rejects.toThrow(AnswerTooLarge)
    expect(await boundedText(new Response('ä'.repeat(5)), 10)).toBe('äääää')
  })

  it('costs nothing where the answer says that it is short, or has no body', async () => {
    const short = new Response('abc', { headers: { 'content-length': '3' } })
    expect(boundedBodyOf(short, 10)).toBe(short.body)
    const none = new Response(null, { status: 204 })
    expect(boundedBodyOf(none, 10)).toBeNull()
    expect(await boundedText(none, 10)).toBe('')
  })

  it('passes on what breaks on the way, and who lets go', async () => {
    const fault = new TypeError('terminated')
    const breaking = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(fault) })
    await expect(boundedText(new Response(breaking), 10)).rejects.toBe(fault)
    const { state, response } = endless()
    await boundedBodyOf(response, 10)?.cancel()
    expect(state.cancelled).toBe(true)
  })

  it('asks nothing of a body that says that it is too long', async () => {
    const { state, response } = endless({ 'content-length': '96' })
    await expect(boundedText(response, 95)).rejects.toThrow(AnswerTooLarge)
    expect(state.cancelled).toBe(true)
    expect(state.pieces).toBeLessThan(3)
  })
})

describe('the bound of a stream', () => {
  const inPieces = (...texts: string[]) => {
    const pieces = texts.map((text) => new TextEncoder().encode(text))
    return new Response(
      new ReadableStream({
        pull: (controller) => (pieces.length > 0 ? controller.enqueue(pieces.shift()) : controller.close()),
      }),
    )
  }
  const piecesOf = async (response: Response, ...bounds: number[]) => {
    const pieces: string[] = []
    for await (const piece of boundedBodyOf(response, ...bounds) as ReadableStream<Uint8Array>)
      pieces.push(new TextDecoder().decode(piece))
    return pieces
  }

  it('gives pieces that end where lines end, and what is left at the end, with every byte in its place', async () => {
    expect(await piecesOf(inPieces('a', 'b\nc', 'd', '\n\n', 'e\nf'))).toEqual(['ab\n', 'cd\n\n', 'e\n', 'f'])
    expect(await piecesOf(inPieces('a\r', 'b\r\n', 'c'))).toEqual(['a\r', 'b\r\n', 'c'])
    expect(await piecesOf(inPieces('\n'))).toEqual(['\n'])
    expect(await piecesOf(inPieces())).toEqual([])
  })

  it('holds for a line that does not end, and for all lines together', async () => {
    await expect(piecesOf(inPieces('ab\n', 'cdef', 'gh'), 100, 5)).rejects.toThrow('longer than 5 bytes')
    expect(await piecesOf(inPieces('ab\n', 'cde', 'fg\n'), 100, 5)).toEqual(['ab\n', 'cdefg\n'])
    await expect(piecesOf(inPieces('ab\n', 'cd\n', 'ef\n'), 8, 5)).rejects.toThrow('longer than 8 bytes')
  })

  it('puts one line in very many pieces together once, however many there are', async () => {
    const piece = new Uint8Array(1000).fill(0x61)
    let left = 8000
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => (left-- > 0 ? controller.enqueue(piece) : controller.close()),
    })
    const pieces = await piecesOf(new Response(body))
    expect(pieces.map((text) => text.length)).toEqual([8_000_000])
  })
})
