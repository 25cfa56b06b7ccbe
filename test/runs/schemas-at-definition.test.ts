import type { JsonObject, ModelProvider } from '@sluice/core'
import { createMemoryStore, defineAgent, defineTool, SluiceError } from '@sluice/core'
import { scriptedProvider } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { failureOf, house } from './support/house.js'

/** A protocol that has no way to say `pattern`. */
function poor(id: string): ModelProvider {
  const provider = scriptedProvider(['done'], { id })
  return Object.assign(provider, {
    checkSchema(schema: JsonObject) {
      if (!JSON.stringify(schema).includes('"pattern"')) return
      throw new SluiceError('SCHEMA_UNSUPPORTED', `The protocol of ${id} cannot express this: vendor: pattern.`, {
        details: { protocol: 'poor', faults: [{ path: 'vendor', problem: 'pattern' }] },
      })
    },
  })
}

const patterned = z.object({ vendor: z.string().regex(/^V-\d+$/) })
const tool = (code: string, input: z.ZodObject) =>
  defineTool({ code, description: 'Looks up a vendor.', effect: 'read', input, handler: () => 'found' })
const agent = (code: string, model: string, more: object = {}) =>
  defineAgent({ code, description: 'A desk.', model, user: '{question}', ...more })

describe('schemas that a protocol cannot express', () => {
  it('CASE-17: are found when the runtime is made, with agent, tool, protocol and path; the good tools beside them are not named', async () => {
    const error = await failureOf(
      house([], {
        others: [poor('poor')],
        agents: [agent('desk', 'poor/small', { tools: [tool('good', z.object({})), tool('bad', patterned)] })],
      }),
    )
    expect(error.code).toBe('SCHEMA_UNSUPPORTED')
    expect(error.message).toContain('Agent "desk": Tool "bad": ')
    expect(error.message).not.toContain('good')
    expect(error.details).toEqual({
      protocol: 'poor',
      faults: [{ path: 'vendor', problem: 'pattern' }],
      provider: 'poor',
      subject: 'Tool "bad"',
      agent: 'desk',
    })
  })

  it('CASE-17: all faults of all agents are told at once: tools, answers and the models they fall back to', async () => {
    const error = await failureOf(
      house([], {
        others: [poor('poor'), scriptedProvider(['done'], { id: 'rich' })],
        agents: [
          agent('first', 'poor/small', { tools: [tool('bad', patterned), tool('worse', patterned)] }),
          agent('second', 'rich/large', { output: patterned, settings: { fallback: ['poor/small'] } }),
          agent('third', 'rich/large', { output: patterned, tools: [tool('fine', patterned)] }),
        ],
      }),
    )
    expect(
      error.details.agents.map((fault: { agent: string; subject: string }) => [fault.agent, fault.subject]),
    ).toEqual([
      ['first', 'Tool "bad"'],
      ['first', 'Tool "worse"'],
      ['second', 'The answer schema'],
    ])
  })

  it('CASE-17: no definition is stored where the schema of one is refused', async () => {
    const store = createMemoryStore()
    const agents = [agent('good', 'poor/small'), agent('bad', 'poor/small', { output: patterned })]
    expect((await failureOf(house([], { store, others: [poor('poor')], agents }))).code).toBe('SCHEMA_UNSUPPORTED')
    expect((await store.agents.list({})).items).toEqual([])
  })

  it('CASE-17: in a plain call they are refused before anything is sent, naming the tool', async () => {
    const provider = poor('poor')
    const { runtime } = await house([], { others: [provider] })
    const error = await failureOf(
      runtime.generateText({ model: 'poor/small', prompt: 'Hello', tools: [tool('bad', patterned)] }),
    )
    expect([error.code, error.details.subject]).toEqual(['SCHEMA_UNSUPPORTED', 'Tool "bad"'])
    expect((provider as ReturnType<typeof scriptedProvider>).requests).toEqual([])
  })
})
