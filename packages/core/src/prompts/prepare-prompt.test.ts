import { describe, expect, it } from 'vitest'
import { preparePrompt, renderPrompt, resolvePromptCall } from './prepare-prompt.js'
import type { PromptProfileDefinition } from './prompt-profile.js'
import { parsePromptProfile } from './prompt-profile.js'

const base = { code: 'ap_desk', user_prompt_template: '{question}', provider: 'openai', model: 'gpt-5.6' }
const prepare = (more: Partial<PromptProfileDefinition> = {}) =>
  preparePrompt(parsePromptProfile({ ...base, ...more }).profile)

describe('renderPrompt', () => {
  it('P-11, P-12: renders both templates from parameters and run context', async () => {
    const prompt = await prepare({ system_prompt_template: 'You serve {clerk}.' })
    expect(renderPrompt(prompt, { question: 'Why {clerk}?' }, { clerk: 'petra' })).toEqual({
      system: 'You serve petra.',
      user: 'Why {clerk}?',
      replaced: [],
    })
  })

  it('G-1: without a system template there is no system text', async () => {
    expect(renderPrompt(await prepare(), { question: 'x' })).toMatchObject({ system: null, user: 'x' })
  })

  it('P-12, P-W3: a missing value in either template is named before anything is rendered', async () => {
    const prompt = await prepare({ system_prompt_template: 'You serve {clerk}.' })
    expect(() => renderPrompt(prompt, { question: 'x' })).toThrow('{clerk} of profile "ap_desk" has no value')
    expect(() => renderPrompt(prompt, undefined, { clerk: 'x' })).toThrow('Placeholder {question} of profile')
    expect(() => renderPrompt(prompt, undefined)).toThrow('{clerk} (and {question})')
  })

  it('P-15: a bound value wins over an input of the same name, and the replacement is told', async () => {
    const prompt = await prepare({ system_prompt_template: '{clerk} {CLERK}', user_prompt_template: '{clerk}' })
    expect(renderPrompt(prompt, { Clerk: 'mallory' }, { clerk: 'petra' })).toEqual({
      system: 'petra petra',
      user: 'petra',
      replaced: ['clerk'],
    })
  })

  it('P-26, P-W7: parameters are held to parameters_schema before rendering', async () => {
    const prompt = await prepare({
      parameters_schema: {
        type: 'object',
        properties: { question: { type: 'string', minLength: 3 } },
        required: ['question'],
      },
    })
    expect(renderPrompt(prompt, { question: 'Why?' })).toMatchObject({ user: 'Why?' })
    expect(() => renderPrompt(prompt, { question: 'x' })).toThrow(
      expect.objectContaining({
        code: 'INVALID_CONFIG',
        reason: 'prompt.parameters',
        details: { profile: 'ap_desk', path: 'question' },
      }),
    )
    expect(() => renderPrompt(prompt, undefined)).toThrow('do not fit')
  })
})

describe('resolvePromptCall', () => {
  const config = { g_enable_tools: true, g_tool_tags: 'ap', openai: { g_apex_web_credential: 'KEY' } }

  it('P-17, P-25: gives provider, model, settings and schema without rendering', async () => {
    const prompt = await prepare({ model_config: config, response_schema: { type: 'object', title: 'Verdict' } })
    const call = resolvePromptCall(prompt)
    expect(call).toMatchObject({
      provider: 'openai',
      model: 'gpt-5.6',
      settings: { enableTools: true, credential: 'KEY' },
    })
    expect(call.responseSchema?.jsonSchema).toEqual({ type: 'object', title: 'Verdict' })
  })

  it('P-18, P-W4, A-W5: an answer schema in an override leaves tools and credentials of the profile in place', async () => {
    const prompt = await prepare({ model_config: config, response_schema: { title: 'A' } })
    const call = resolvePromptCall(prompt, { config: { response_schema: { title: 'B' } } })
    expect(call.responseSchema?.jsonSchema).toEqual({ title: 'B' })
    expect(call.settings).toMatchObject({ enableTools: true, toolTags: ['ap'], credential: 'KEY' })
    const replaced = resolvePromptCall(prompt, { config: { g_max_tool_calls: 1 }, configMode: 'replace' })
    expect(replaced.settings).toMatchObject({ enableTools: false, credential: null, maxToolCalls: 1 })
    expect(replaced.responseSchema?.jsonSchema).toEqual({ title: 'A' })
  })

  it('P-17, P-21: another provider brings its own section', async () => {
    const prompt = await prepare({ model_config: { ...config, anthropic: { g_max_tokens: 99 } } })
    expect(resolvePromptCall(prompt, { provider: 'anthropic', model: 'claude' })).toMatchObject({
      provider: 'anthropic',
      model: 'claude',
      settings: { maxOutputTokens: 99, credential: null },
    })
  })

  it('Z-6: two calls of one profile share nothing that can be changed', async () => {
    const prompt = await prepare({ model_config: config })
    expect(() => Object.assign(resolvePromptCall(prompt).settings, { enableTools: false })).toThrow(TypeError)
    expect(() => Object.assign(prompt, { user: null })).toThrow(TypeError)
  })
})

describe('preparePrompt', () => {
  it('a schema that is not valid JSON Schema is refused by name', async () => {
    await expect(prepare({ response_schema: { type: 'strin' } })).rejects.toMatchObject({ code: 'INVALID_CONFIG' })
  })
})
