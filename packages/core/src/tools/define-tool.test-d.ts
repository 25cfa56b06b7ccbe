import { describe, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import type { JsonObject } from '../internal/json.js'
import { defineTool } from './define-tool.js'
import { withErrorReference } from './error-reference.js'
import { refuse } from './refuse.js'
import type { ToolContext, ToolDefinition } from './tool-definition.js'

const input = z.object({
  invoice: z.string(),
  amount: z.number().default(0),
  note: z.string().optional(),
  at: z.string().transform((text) => text.length),
})
type Handled = { invoice: string; amount: number; note?: string | undefined; at: number }

interface DeskResources {
  readonly tx: { approve(invoice: string): number }
}

describe('defineTool', () => {
  it('types the arguments of the handler from a zod schema: defaults applied, transforms run', () => {
    const tool = defineTool({
      code: 'a',
      description: 'A.',
      input,
      handler: (args, tool) => {
        expectTypeOf(args).toEqualTypeOf<Handled>()
        expectTypeOf(tool.runContext.clerk).toEqualTypeOf<string | number | boolean | undefined>()
        expectTypeOf(tool.resources.tx).toEqualTypeOf<unknown>()
        return refuse('no')
      },
      authorize: (args) => {
        expectTypeOf(args.amount).toBeNumber()
      },
    })
    expectTypeOf(tool).toEqualTypeOf<ToolDefinition<Handled>>()
  })

  it('types the resources from the annotation of the second parameter', () => {
    defineTool({
      code: 'a',
      description: 'A.',
      input,
      handler: ({ invoice }, tool: ToolContext<DeskResources>) => {
        expectTypeOf(invoice).toBeString()
        return tool.resources.tx.approve(invoice)
      },
    })
  })

  it('gives JSON data to the handler of a JSON Schema', () => {
    defineTool({
      code: 'a',
      description: 'A.',
      input: { type: 'object', properties: { invoice: { type: 'string' } }, required: ['invoice'] },
      handler: (args) => {
        expectTypeOf(args).toEqualTypeOf<JsonObject>()
        return 'x'
      },
    })
  })

  it('takes an agent in place of a handler, and never both or neither', () => {
    defineTool({ code: 'a', description: 'A.', input, agent: 'clerk' })
    // @ts-expect-error neither a handler nor an agent
    defineTool({ code: 'a', description: 'A.', input })
    // @ts-expect-error a handler and an agent
    defineTool({ code: 'a', description: 'A.', input, agent: 'clerk', handler: () => 'x' })
    // @ts-expect-error an effect that does not exist
    defineTool({ code: 'a', description: 'A.', input, effect: 'delete', agent: 'clerk' })
  })

  it('tools of different arguments fit into one list', () => {
    const one = defineTool({ code: 'a', description: 'A.', input, handler: () => 'x' })
    const two = defineTool({ code: 'b', description: 'B.', input: z.object({ n: z.number() }), handler: ({ n }) => n })
    const list: readonly ToolDefinition[] = [one, two]
    expectTypeOf(list).toEqualTypeOf<readonly ToolDefinition[]>()
  })

  it('withErrorReference keeps the types of the handler', () => {
    defineTool({
      code: 'a',
      description: 'A.',
      input,
      handler: withErrorReference((args: Handled, tool: ToolContext<DeskResources>) =>
        tool.resources.tx.approve(args.invoice),
      ),
    })
    defineTool({
      code: 'a',
      description: 'A.',
      input: z.object({ n: z.number() }),
      handler: withErrorReference((args) => {
        expectTypeOf(args.n).toBeNumber()
        return args.n
      }),
    })
  })
})
