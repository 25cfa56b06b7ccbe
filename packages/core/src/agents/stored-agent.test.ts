import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { SluiceError } from '../errors/sluice-error.js'
import { defineTool } from '../tools/define-tool.js'
import { hostedTool } from '../tools/hosted-tool.js'
import { sealAgent } from './agent-definition.js'
import type { AgentOptions } from './define-agent.js'
import { defineAgent } from './define-agent.js'
import { agentDigest, parseStoredAgent, toStoredAgent } from './stored-agent.js'

const payOptions = { code: 'pay', description: 'Pays.', input: z.object({ invoice: z.string() }), handler: () => 'ok' }
const pay = defineTool(payOptions)
const full = {
  code: 'ap_desk',
  description: 'Answers.',
  model: 'openai/gpt-5',
  system: 'You help {clerk}.',
  user: '{question}',
  tools: [pay, 'named'],
  hostedTools: [
    hostedTool({
      code: 'search',
      provider: 'openai',
      maxUses: 2,
      cost: { usd: '0.01' },
      configuration: { type: 'web_search' },
    }),
  ],
  input: z.object({ question: z.string() }),
  output: z.object({ answer: z.string() }),
  requiredContext: ['clerk'],
  maxToolCalls: 3,
  maxHistoryMessages: 20,
  timeoutSeconds: 30,
  settings: { maxOutputTokens: 100 },
  reasoning: { level: 'low' as const },
  temperature: 0.5,
} satisfies AgentOptions
const named = defineTool({ ...payOptions, code: 'named' })
const toolOf = (code: string) => (code === 'named' ? named : undefined)
const digestOf = (options: AgentOptions) => agentDigest(toStoredAgent(defineAgent(options as never), toolOf))

function fault(json: unknown): SluiceError {
  try {
    parseStoredAgent(json)
  } catch (error) {
    if (SluiceError.isInstance(error)) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('toStoredAgent', () => {
  it("A-1: is JSON under the original's keys, with the digests of its tools", () => {
    const stored = toStoredAgent(defineAgent(full), toolOf)
    expect(JSON.parse(JSON.stringify(stored))).toEqual({
      agent_type: 'profile',
      code: 'ap_desk',
      description: 'Answers.',
      prompt: {
        model: 'openai/gpt-5',
        system_prompt_template: 'You help {clerk}.',
        user_prompt_template: '{question}',
      },
      tools: [
        { code: 'pay', digest: pay.definitionDigest },
        { code: 'named', digest: named.definitionDigest },
      ],
      hosted_tools: [
        {
          code: 'search',
          provider: 'openai',
          effect: 'send',
          untrusted: true,
          maxUses: 2,
          cost: { usd: '0.01' },
          configuration: { type: 'web_search' },
        },
      ],
      request: { settings: { maxOutputTokens: 100, maxToolCalls: 3 }, reasoning: { level: 'low' }, temperature: 0.5 },
      input_schema: expect.objectContaining({ type: 'object' }),
      output_schema: expect.objectContaining({ type: 'object' }),
      timeout_seconds: 30,
      max_history_messages: 20,
      required_context: ['clerk'],
    })
  })

  it('A-8: names the prompt profile, and its version where it is pinned', () => {
    expect(toStoredAgent(defineAgent({ code: 'a', description: 'A.', profile: 'desk' }))).toEqual({
      agent_type: 'profile',
      code: 'a',
      description: 'A.',
      prompt_profile_code: 'desk',
    })
    expect(
      toStoredAgent(defineAgent({ code: 'a', description: 'A.', profile: { code: 'desk', version: 3 } })),
    ).toMatchObject({ prompt_profile_version: 3 })
  })

  it.each<[string, Partial<AgentOptions>]>([
    ['description', { description: 'Other.' }],
    ['model', { model: 'openai/gpt-6' }],
    ['system', { system: 'Other.' }],
    ['user', { user: 'Q: {question}' }],
    ['tools', { tools: [pay] }],
    ['order of tools', { tools: ['named', pay] }],
    ['a tool behind the same code', { tools: [defineTool({ ...payOptions, description: 'Pays at once.' }), 'named'] }],
    ['hosted tools', { hostedTools: [] }],
    ['input', { input: z.object({ question: z.string().max(5) }) }],
    ['output', { output: z.object({ answer: z.number() }) }],
    ['requiredContext', { requiredContext: [] }],
    ['maxToolCalls', { maxToolCalls: 4 }],
    ['maxHistoryMessages', { maxHistoryMessages: 21 }],
    ['timeoutSeconds', { timeoutSeconds: 31 }],
    ['settings', { settings: { maxOutputTokens: 101 } }],
    ['reasoning', { reasoning: { level: 'high' } }],
    ['temperature', { temperature: 0 }],
  ])('a change of %s changes the digest', (_what, change) => {
    expect(digestOf({ ...full, ...change } as AgentOptions)).not.toBe(digestOf(full))
  })

  it('equal definitions have equal digests, whatever the order of their options', () => {
    const reversed = Object.fromEntries(Object.entries(full).reverse()) as never
    expect(digestOf(reversed)).toBe(digestOf(full))
    expect(digestOf({ ...full, tools: [defineTool(payOptions), 'named'] })).toBe(digestOf(full))
  })
})

describe('parseStoredAgent', () => {
  it('gives back the same stored form, tools named by code', () => {
    const stored = JSON.parse(JSON.stringify(toStoredAgent(defineAgent(full), toolOf)))
    const parsed = parseStoredAgent(stored)
    expect(parsed).toMatchObject({
      agentType: 'profile',
      code: 'ap_desk',
      model: 'openai/gpt-5',
      user: '{question}',
      tools: ['pay', 'named'],
      settings: { maxToolCalls: 3 },
    })
    const both = (code: string) => (code === 'pay' ? pay : toolOf(code))
    expect(JSON.parse(JSON.stringify(toStoredAgent(parsed, both)))).toEqual(stored)
    expect(agentDigest(toStoredAgent(parsed, both))).toBe(digestOf(full))
    expect(parsed.output?.validate({ answer: 'yes' })).toBeDefined()
  })

  it("A-1: reads the original's JSON, nulls included", () => {
    const json = {
      code: 'a',
      description: 'A.',
      agent_type: 'profile',
      prompt_profile_code: 'desk',
      prompt_profile_version: null,
      workflow_definition: null,
      input_schema: { type: 'object' },
      timeout_seconds: 60,
      max_history_messages: 10,
    }
    expect(parseStoredAgent(json)).toMatchObject({
      profile: { code: 'desk', version: null },
      timeoutSeconds: 60,
      maxHistoryMessages: 10,
      model: null,
    })
  })

  it('A-2: reads types that other packages bring, each with its own part', () => {
    const workflow = parseStoredAgent({
      code: 'w',
      description: 'W.',
      agent_type: 'workflow',
      workflow_definition: { steps: [] },
      max_iterations: 5,
    })
    expect(workflow).toMatchObject({
      agentType: 'workflow',
      workflowDefinition: { steps: [] },
      maxIterations: 5,
      orchestrationConfig: null,
    })
    const sealed = sealAgent({
      agentType: 'workflow',
      code: 'w',
      description: 'W.',
      workflowDefinition: { steps: [] },
      maxIterations: 5,
    })
    expect(toStoredAgent(sealed)).toEqual({
      code: 'w',
      description: 'W.',
      agent_type: 'workflow',
      workflow_definition: { steps: [] },
      max_iterations: 5,
    })
  })

  it.each([
    ['profile', 'promptProfileCode'],
    ['workflow', 'workflowDefinition'],
    ['orchestrator', 'orchestrationConfig'],
    ['handoff', 'orchestrationConfig'],
    ['conversation', 'orchestrationConfig'],
  ])('A-9: a %s without %s is refused with MISSING_CONFIG', (agent_type, field) => {
    const error = fault({ code: 'a', description: 'A.', agent_type })
    expect(error.code).toBe('MISSING_CONFIG')
    expect(error.message).toContain(field)
  })

  it('tells all faults at once', () => {
    const error = fault({
      code: 'a b',
      agent_type: 'workflow',
      workflow_definition: { steps: [] },
      prompt_profile_code: 'p',
      max_iterations: 0,
      timeout_second: 3,
      input_schema: 7,
    })
    expect(error.code).toBe('INVALID_CONFIG')
    for (const place of [
      'code',
      'description',
      'prompt_profile_code',
      'maxIterations',
      'timeout_second',
      'inputSchema',
    ])
      expect(error.message).toContain(`- ${place}: `)
  })

  it.each([
    [null],
    ['x'],
    [[]],
    [{ code: 'a', description: 'A.', agent_type: 'profile', prompt_profile_code: 'p', timeout_seconds: Number.NaN }],
    [{ code: 'a', description: 'A.', agent_type: '' }],
  ])('what is no definition is refused (%#)', (json) => {
    expect(fault(json).code).toBe('INVALID_CONFIG')
  })

  it('CASE-22: a key that reaches a prototype is refused by name', () => {
    const json = JSON.parse(
      '{"code": "a", "description": "A.", "agent_type": "profile", "prompt_profile_code": "p", "__proto__": {"x": 1}}',
    )
    expect(fault(json).message).toContain('- __proto__: ')
  })
})
