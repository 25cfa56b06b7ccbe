import { describe, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import type { JsonObject, JsonValue } from '../internal/json.js'
import { defineTool } from '../tools/define-tool.js'
import type { AgentDefinition } from './agent-definition.js'
import { defineAgent } from './define-agent.js'
import type { PlaceholderNames } from './template-input.js'

type InputTypeOf<Agent> = Agent extends AgentDefinition<infer Input, unknown> ? Input : never
type OutputTypeOf<Agent> = Agent extends AgentDefinition<unknown, infer Output> ? Output : never
const tool = defineTool({
  code: 'pay',
  description: 'Pays.',
  input: z.object({ invoice: z.string() }),
  handler: ({ invoice }) => invoice,
})
const desk = { code: 'a', description: 'A.', model: 'openai/gpt-5' }

describe('PlaceholderNames', () => {
  it('P-11, P-16: finds names of letters, digits and underscores, and leaves other braces alone', () => {
    expectTypeOf<PlaceholderNames<'{a} and {B_2} and {a}'>>().toEqualTypeOf<'a' | 'B_2'>()
    expectTypeOf<PlaceholderNames<'no braces'>>().toEqualTypeOf<never>()
    expectTypeOf<PlaceholderNames<'{{a}} {{{b}}}'>>().toEqualTypeOf<'b'>()
    expectTypeOf<PlaceholderNames<'{"json": {"x": 1}} {c} {} { d }'>>().toEqualTypeOf<'c'>()
    expectTypeOf<PlaceholderNames<'open { and {e}'>>().toEqualTypeOf<'e'>()
    expectTypeOf<PlaceholderNames<string>>().toEqualTypeOf<string>()
    expectTypeOf<PlaceholderNames<'{a}' | '{b}'>>().toEqualTypeOf<'a' | 'b'>()
  })
})

describe('defineAgent', () => {
  it('types the input from the placeholders of both prompts', () => {
    const agent = defineAgent({ ...desk, system: 'You help {who}.', user: '{question}' })
    expectTypeOf<InputTypeOf<typeof agent>>().toEqualTypeOf<{ readonly who: JsonValue; readonly question: JsonValue }>()
  })

  it('R-3: leaves out what the run context binds', () => {
    const agent = defineAgent({ ...desk, system: 'You help {clerk}.', user: '{question}', requiredContext: ['clerk'] })
    expectTypeOf<InputTypeOf<typeof agent>>().toEqualTypeOf<{ readonly question: JsonValue }>()
  })

  it('types the input from a schema, before its defaults', () => {
    const agent = defineAgent({
      ...desk,
      user: '{question}',
      input: z.object({ question: z.string(), top: z.number().default(3) }),
    })
    expectTypeOf<InputTypeOf<typeof agent>>().toEqualTypeOf<{ question: string; top?: number | undefined }>()
  })

  it('types the output from a schema, after its transforms', () => {
    const agent = defineAgent({ ...desk, user: 'x', output: z.object({ total: z.string().transform(Number) }) })
    expectTypeOf<OutputTypeOf<typeof agent>>().toEqualTypeOf<{ total: number }>()
  })

  it('has no output without a schema', () => {
    const agent = defineAgent({ ...desk, user: 'x' })
    expectTypeOf<OutputTypeOf<typeof agent>>().toEqualTypeOf<undefined>()
    expectTypeOf<InputTypeOf<typeof agent>>().toEqualTypeOf<Record<never, never>>()
  })

  it('takes JSON Schema, and then plain JSON data', () => {
    const schema: JsonObject = { type: 'object' }
    const agent = defineAgent({ ...desk, user: 'x', input: schema, output: schema })
    expectTypeOf<OutputTypeOf<typeof agent>>().toEqualTypeOf<JsonObject>()
    expectTypeOf<InputTypeOf<typeof agent>>().toEqualTypeOf<JsonObject>()
  })

  it('every agent is one of a list of agents, whatever its types', () => {
    const list: readonly AgentDefinition[] = [
      defineAgent({ ...desk, user: '{question}', tools: [tool, 'other'] }),
      defineAgent({ ...desk, user: 'x', output: z.object({ a: z.string() }) }),
      defineAgent({ code: 'b', description: 'B.', profile: 'p' }),
    ]
    expectTypeOf(list).items.toEqualTypeOf<AgentDefinition>()
  })

  it('refuses what does not belong together', () => {
    // @ts-expect-error: a profile has its own prompts
    defineAgent({ code: 'b', description: 'B.', profile: 'p', user: 'x' })
    // @ts-expect-error: neither a model nor a profile
    defineAgent({ code: 'b', description: 'B.', user: 'x' })
    // @ts-expect-error: an unknown option
    defineAgent({ ...desk, user: 'x', instructions: 'y' })
    // @ts-expect-error: not a setting
    defineAgent({ ...desk, user: 'x', settings: { maxTokens: 3 } })
  })
})
