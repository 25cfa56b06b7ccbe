import { describe, expect, it } from 'vitest'
import { ndjsonEvents } from './ndjson-events.js'
import { readLines } from './read-lines.js'

function bodyOf(pieces: readonly Uint8Array[], state = { open: true }): ReadableStream<Uint8Array> {
  const left = [...pieces]
  return new ReadableStream({
    pull(controller) {
      const piece = left.shift()
      if (piece === undefined) controller.close()
      else controller.enqueue(piece)
    },
    cancel() {
      state.open = false
    },
  })
}

async function all<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const list: Value[] = []
  for await (const value of values) list.push(value)
  return list
}

const bytes = (text: string) => new TextEncoder().encode(text)

describe('lines of a body', () => {
  it('are the same wherever it is cut, also inside of a character and of a line end', async () => {
    const text = 'Grüße 🧾\r\n\nzwei\n\r\ndrei'
    const expected = ['Grüße 🧾', '', 'zwei', '', 'drei']
    const whole = bytes(text)
    for (let cut = 0; cut <= whole.length; cut++) {
      const pieces = [whole.slice(0, cut), whole.slice(cut)]
      expect(await all(readLines(bodyOf(pieces))), `cut at ${cut}`).toEqual(expected)
    }
    const single = Array.from(whole, (byte) => Uint8Array.of(byte))
    expect(await all(readLines(bodyOf(single)))).toEqual(expected)
  })

  it('have no line behind the last line end, and none where there is no body', async () => {
    expect(await all(readLines(bodyOf([bytes('one\n')])))).toEqual(['one'])
    expect(await all(readLines(bodyOf([])))).toEqual([])
    expect(await all(readLines(null))).toEqual([])
  })

  it('let the body go when the reader leaves early', async () => {
    const state = { open: true }
    for await (const _line of readLines(bodyOf([bytes('one\ntwo\n'), bytes('three\n')], state))) break
    expect(state.open).toBe(false)
  })

  it('a line of many pieces takes a time that grows with its length, not with its square', async () => {
    const piece = bytes('x'.repeat(256))
    const count = 40_000
    const [line] = await all(readLines(bodyOf(Array.from({ length: count }, () => piece))))
    expect(line).toHaveLength(count * 256)
  })
})

describe('JSON values of an answer', () => {
  it('are one a line; empty lines are none, and a line that is no JSON is not passed over', async () => {
    expect(await all(ndjsonEvents(new Response('{"a":1}\n\n  \n[2]\n"three"')))).toEqual([{ a: 1 }, [2], 'three'])
    const seen: unknown[] = []
    const reading = async () => {
      for await (const value of ndjsonEvents(new Response('{"a":1}\n<html>\n{"b":2}\n'))) seen.push(value)
    }
    await expect(reading()).rejects.toThrow(SyntaxError)
    expect(seen).toEqual([{ a: 1 }])
  })

  it('leave the body alone until the first is asked for', async () => {
    const response = new Response('{"a":1}')
    const events = ndjsonEvents(response)
    expect(response.body?.locked).toBe(false)
    expect(await response.json()).toEqual({ a: 1 })
    await events.return(undefined)
  })
})
