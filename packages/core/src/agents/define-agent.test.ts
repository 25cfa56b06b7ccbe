import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { SluiceError } from '../errors/sluice-error.js'
import { defineTool } from '../tools/define-tool.js'
import { hostedTool } from '../tools/hosted-tool.js'
import { isAgentDefinition, isProfileAgent } from './agent-definition.js'
import { defineAgent } from './define-agent.js'

const pay = defineTool({
  code: 'pay',
  description: 'Pays.',
  input: z.object({ invoice: z.string() }),
  handler: () => 'ok',
})
const search = hostedTool({ code: 'search', provider: 'openai', configuration: { type: 'web_search' } })
const desk = { code: 'ap_desk', description: 'Answers.', model: 'openai/gpt-5', user: '{question}' }

function fault(options: unknown): SluiceError {
  try {
    defineAgent(options as never)
  } catch (error) {
    if (SluiceError.isInstance(error)) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('defineAgent', () => {
  it('A-1, A-2: makes a profile agent with its prompts in place', () => {
    const agent = defineAgent({
      ...desk,
      system: 'You help {clerk}.',
      tools: [pay, 'named'],
      hostedTools: [search],
      requiredContext: ['clerk'],
      maxToolCalls: 3,
      maxHistoryMessages: 20,
      timeoutSeconds: 30,
      settings: { maxOutputTokens: 100 },
      reasoning: { level: 'low' },
      temperature: 0,
      topP: 1,
      stopSequences: ['END'],
      providerOptions: { seed: 7 },
      input: z.object({ question: z.string() }),
      output: z.object({ answer: z.string() }),
    })
    expect(agent).toMatchObject({
      kind: 'agent',
      agentType: 'profile',
      code: 'ap_desk',
      description: 'Answers.',
      model: 'openai/gpt-5',
      system: 'You help {clerk}.',
      user: '{question}',
      profile: null,
      requiredContext: ['clerk'],
      maxHistoryMessages: 20,
      timeoutSeconds: 30,
      maxIterations: null,
      settings: { maxOutputTokens: 100, maxToolCalls: 3 },
      reasoning: { level: 'low' },
      temperature: 0,
      topP: 1,
      stopSequences: ['END'],
      providerOptions: { seed: 7 },
    })
    expect(agent.tools).toEqual([pay, 'named'])
    expect(agent.tools[0]).toBe(pay)
    expect(agent.hostedTools).toEqual([search])
    expect(agent.output?.jsonSchema).toMatchObject({ type: 'object', required: ['answer'] })
    expect(isAgentDefinition(agent) && isProfileAgent(agent)).toBe(true)
  })

  it('A-8: takes a prompt profile in place of prompts, pinned or not', () => {
    expect(defineAgent({ code: 'a', description: 'A.', profile: 'desk' }).profile).toEqual({
      code: 'desk',
      version: null,
    })
    expect(defineAgent({ code: 'a', description: 'A.', profile: { code: 'desk', version: 2 } }).profile).toEqual({
      code: 'desk',
      version: 2,
    })
  })

  it('what is left out is null or empty', () => {
    expect(defineAgent(desk)).toMatchObject({
      system: null,
      tools: [],
      hostedTools: [],
      input: null,
      output: null,
      requiredContext: [],
      timeoutSeconds: null,
      maxHistoryMessages: null,
      settings: {},
      reasoning: null,
      temperature: null,
      providerOptions: null,
    })
  })

  it('CASE-27: a definition is frozen, and later changes of the options do not reach it', () => {
    const options = {
      ...desk,
      tools: [pay],
      stopSequences: ['a'],
      settings: { retry: { attempts: 2, backoffMs: 1, maxBackoffMs: 1 } },
      providerOptions: { deep: { a: 1 } },
      requiredContext: ['clerk'],
    }
    const agent = defineAgent(options)
    options.tools.push(pay)
    options.stopSequences.push('b')
    options.settings.retry.attempts = 9
    options.providerOptions.deep.a = 9
    options.requiredContext.push('invoice')
    expect(agent.tools).toHaveLength(1)
    expect(agent.stopSequences).toEqual(['a'])
    expect(agent.settings.retry?.attempts).toBe(2)
    expect(agent.providerOptions).toEqual({ deep: { a: 1 } })
    expect(agent.requiredContext).toEqual(['clerk'])
    const changes: (() => unknown)[] = [
      () => Object.assign(agent, { model: 'x/y' }),
      () => Object.assign(agent.settings, { maxToolCalls: 99 }),
      () => Object.assign(agent.settings.retry as object, { attempts: 99 }),
      () => (agent.tools as unknown[]).push(pay),
      () => (agent.requiredContext as string[]).pop(),
      () => Object.assign(agent.providerOptions?.deep as object, { a: 2 }),
    ]
    for (const change of changes) expect(change).toThrow(TypeError)
  })

  it('tells all faults of a definition at once', () => {
    const error = fault({
      code: 'no spaces',
      description: ' ',
      model: 'gpt-5',
      system: 7,
      user: '',
      tools: [pay, pay, 7, 'bad name', { code: 'x' }],
      hostedTools: [{ code: 'y' }],
      input: 'text',
      output: z.date(),
      requiredContext: 'clerk',
      maxToolCalls: -1,
      maxHistoryMessages: 0,
      timeoutSeconds: Number.POSITIVE_INFINITY,
      settings: { maxOutputToken: 5, onToolError: 'ignore' },
      reasoning: { effort: 'high' },
      temperature: Number.NaN,
      topP: 2,
      stopSequences: [7],
      providerOptions: { f: () => 1 },
      instructions: 'x',
    })
    expect(error.code).toBe('INVALID_CONFIG')
    expect(error.reason).toBe('agent.definition')
    expect(error.details?.count).toBe(24)
  })

  it.each<[string, Record<string, unknown>]>([
    ['code', { code: '' }],
    ['code', { code: '__proto__/x' }],
    ['code', { code: 'x'.repeat(129) }],
    ['description', { description: undefined }],
    ['model', { model: undefined }],
    ['model', { model: '/gpt' }],
    ['user', { user: undefined }],
    ['system', { system: {} }],
    ['model', { profile: 'p' }],
    ['tools[1]', { tools: ['pay', pay] }],
    ['hostedTools[0]', { tools: ['search'], hostedTools: [search] }],
    ['tools', { tools: pay }],
    ['maxToolCalls', { maxToolCalls: 1.5 }],
    ['maxToolCalls', { maxToolCalls: 1, settings: { maxToolCalls: 2 } }],
    ['settings', { settings: 7 }],
    ['timeoutSeconds', { timeoutSeconds: 0 }],
    ['reasoning', { reasoning: { level: 'max' } }],
    ['reasoning', { reasoning: { budgetTokens: -1 } }],
    ['maxIterations', { maxIterations: 3 }],
    ['agentType', { agentType: 'workflow' }],
    ['__proto__', JSON.parse('{"__proto__": {"x": 1}}')],
  ])('an unfit %s is refused (%#)', (place, change) => {
    const options = Object.hasOwn(change, '__proto__')
      ? Object.defineProperty({ ...desk }, '__proto__', { value: {}, enumerable: true })
      : { ...desk, ...change }
    const error = fault(options)
    expect(error.code).toBe('INVALID_CONFIG')
    expect(error.message).toContain(`- ${place}: `)
  })

  it.each([[null], [undefined], ['ap_desk'], [[]]])('anything but an object of options is refused (%#)', (options) => {
    expect(fault(options).code).toBe('INVALID_CONFIG')
  })
})
