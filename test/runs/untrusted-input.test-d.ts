import type { JsonValue, Runtime, TextPart } from '@sluice/core'
import { defineAgent, untrusted } from '@sluice/core'
import { describe, expectTypeOf, it } from 'vitest'
import { z } from 'zod'

declare const runtime: Runtime

const templated = defineAgent({ code: 'a', description: 'x', model: 'p/m', user: '{question} {who}' })
const typed = defineAgent({
  code: 'b',
  description: 'x',
  model: 'p/m',
  user: '{mail} {top}',
  input: z.object({ mail: z.string(), top: z.number().default(3) }),
})

describe('input that is given as untrusted(...)', () => {
  it('stands for text, and for nothing else', () => {
    void runtime.execute({ agent: templated, input: { question: untrusted('hi', 'mail'), who: 'petra' } })
    void runtime.execute({ agent: typed, input: { mail: untrusted('hi') } })
    void runtime.execute({ agent: 'by-code', input: { anything: untrusted('hi') } })
    void runtime.executeProfile({ profile: 'p', parameters: { mail: untrusted('hi'), top: 3 } })
    // @ts-expect-error a number is no text
    void runtime.execute({ agent: typed, input: { mail: 'hi', top: untrusted('3') } })
    // @ts-expect-error a placeholder has no value
    void runtime.execute({ agent: templated, input: { question: 'hi' } })
    // @ts-expect-error text is wanted
    void runtime.execute({ agent: typed, input: { mail: 7 } })
    expectTypeOf(templated['~input']).toEqualTypeOf<
      { readonly question: JsonValue; readonly who: JsonValue } | undefined
    >()
    expectTypeOf(untrusted('x')).toEqualTypeOf<TextPart>()
  })
})
