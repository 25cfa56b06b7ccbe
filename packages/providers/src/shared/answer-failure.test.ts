import { describe, expect, it } from 'vitest'
import { answerFailure } from './answer-failure.js'

describe('an error answer', () => {
  it('keeps its status, its headers and its body: an object where it is one, else the text', async () => {
    const read = async (body: string | null) => {
      const { status, headers, error, message } = await answerFailure(
        new Response(body, { status: 503, headers: { 'retry-after': '7' } }),
      )
      expect([status, headers.get('retry-after')]).toEqual([503, '7'])
      return { error, message }
    }
    expect(await read('{"error":"no such model"}')).toMatchObject({ error: { error: 'no such model' } })
    expect((await read('<html>')).error).toBe('<html>')
    expect((await read('[1]')).error).toBe('[1]')
    expect((await read('{"half')).error).toBe('{"half')
    expect(await read('')).toEqual({ error: {}, message: 'status 503 without a body' })
    expect((await read(null)).message).toBe('status 503 without a body')
  })
})
