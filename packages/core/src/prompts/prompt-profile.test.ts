import { describe, expect, it } from 'vitest'
import { SluiceError } from '../errors/sluice-error.js'
import { parsePromptProfile } from './prompt-profile.js'

const base = { code: 'ap_desk', user_prompt_template: '{question}', provider: 'openai', model: 'gpt-5.6' }

function faultsOf(json: unknown, options?: { strict: boolean }): string {
  try {
    parsePromptProfile(json, options)
  } catch (error) {
    if (SluiceError.isInstance(error, 'INVALID_CONFIG') && error.reason === 'prompt.definition') return error.message
    throw error
  }
  throw new Error('accepted')
}

describe('parsePromptProfile', () => {
  it('P-1: reads a profile with the keys of the original; what is left out is null', () => {
    const parsed = parsePromptProfile({ ...base, version: 3, system_prompt_template: 'You serve {clerk}.' })
    expect(parsed).toEqual({
      profile: {
        ...base,
        description: null,
        system_prompt_template: 'You serve {clerk}.',
        model_config: null,
        response_schema: null,
        parameters_schema: null,
      },
      version: 3,
      placeholders: ['clerk', 'question'],
      warnings: [],
    })
  })

  it('CASE-27: the profile is a frozen copy', () => {
    const json = { ...base, model_config: { g_tool_tags: ['a'] } }
    const { profile } = parsePromptProfile(json)
    json.model_config.g_tool_tags.push('b')
    expect(profile.model_config).toEqual({ g_tool_tags: ['a'] })
    expect(() => Object.assign(profile.model_config as object, { x: 1 })).toThrow(TypeError)
  })

  it('tells all faults at once', () => {
    const message = faultsOf({
      code: 'a b',
      version: 0,
      description: 7,
      system_prompt_template: [],
      user_prompt_template: '  ',
      model: '',
      model_config: { g_max_tool_calls: -1 },
      response_schema: 'x',
      parameters_schema: [1],
    })
    const places = [
      'code',
      'version',
      'description',
      'system_prompt_template',
      'user_prompt_template',
      'provider',
      'model',
    ]
    for (const place of [...places, 'g_max_tool_calls', 'response_schema', 'parameters_schema'])
      expect(message).toContain(`\n- ${place}: `)
  })

  it.each([undefined, null, 'x', []])('refuses %j', (json) => {
    expect(faultsOf(json)).toContain('must be an object')
  })

  it('P-22: unknown keys are warnings, and faults in strict mode', () => {
    const json = { ...base, userPromptTemplate: 'x', extra: 1, model_config: { g_max_tokens: 5 } }
    expect(parsePromptProfile(json).warnings).toEqual([
      'userPromptTemplate is not known and has no effect; did you mean user_prompt_template?',
      'extra is not known and has no effect',
      'g_max_tokens has no effect at the root: write it in the section "anthropic"',
    ])
    const message = faultsOf(json, { strict: true })
    expect(message.match(/- strict: /g)).toHaveLength(3)
    expect(parsePromptProfile(base, { strict: true }).warnings).toEqual([])
  })

  it('CASE-30: placeholders that no parameter declares are reported by name when the profile is saved', () => {
    const json = {
      ...base,
      system_prompt_template: 'For {clerk}: {Question}. Answer as {"answer": "..."} or {{answer}}.',
      parameters_schema: { type: 'object', properties: { question: { type: 'string' } } },
    }
    const { placeholders, warnings } = parsePromptProfile(json, { strict: true })
    expect(placeholders).toEqual(['clerk', 'Question'])
    expect(warnings).toEqual([
      'placeholder {clerk} is no property of parameters_schema: it needs a key of the run context',
    ])
  })

  it('P-9: asks nobody whether provider and model exist', () => {
    expect(parsePromptProfile({ ...base, provider: 'nobody', model: 'none' }).profile.provider).toBe('nobody')
  })

  it('CASE-29: an unknown key is shown escaped and bounded', () => {
    const { warnings } = parsePromptProfile({ ...base, [`\u001b[2J${'x'.repeat(500)}`]: 1 })
    expect(warnings[0]).toMatch(/^\\u001b\[2Jx+\\… is not known/)
  })
})
