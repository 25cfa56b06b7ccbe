import { describe, expect, it } from 'vitest'
import { Pause, Refusal, Veto } from './answers.js'

describe('answers of gates', () => {
  it('an answer that untyped code makes without its text is still that answer, and no TypeError', () => {
    const untyped = [Veto, Refusal, Pause] as unknown as readonly (new (code?: string) => Error)[]
    for (const Answer of untyped) expect(new Answer('CODE')).toMatchObject({ code: 'CODE' })
    expect(Veto.isInstance(new (untyped[0] as new () => Error)())).toBe(true)
  })
})
