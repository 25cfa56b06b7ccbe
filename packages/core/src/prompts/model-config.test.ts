import { describe, expect, it } from 'vitest'
import { applyModelConfig, mergeModelConfig } from './model-config.js'

const NOTHING = {
  baseUrl: null,
  credential: null,
  enableTools: false,
  toolTags: [],
  maxToolCalls: null,
  maxOutputTokens: null,
  reasoning: null,
  responseSchema: null,
  providerSettings: {},
}

describe('applyModelConfig', () => {
  it.each([[null], [undefined], [{}]])('P-19, G-53: %j gives the defaults', (config) => {
    expect(applyModelConfig(config, 'openai')).toEqual({ settings: NOTHING, warnings: [] })
  })

  it('P-20: reads the keys of the root', () => {
    const config = {
      g_base_url: 'https://llm.example.org/v1',
      g_enable_reasoning: true,
      g_reasoning_level: 'high',
      g_enable_tools: true,
      g_max_tool_calls: 0,
      g_tool_tags: ['ap', ' desk '],
      g_apex_web_credential: 'LLM_KEY',
    }
    expect(applyModelConfig(config, 'openai')).toEqual({
      settings: {
        ...NOTHING,
        baseUrl: 'https://llm.example.org/v1',
        credential: 'LLM_KEY',
        enableTools: true,
        toolTags: ['ap', 'desk'],
        maxToolCalls: 0,
        reasoning: { level: 'high' },
      },
      warnings: [expect.stringMatching(/^g_apex_web_credential has no effect/)],
    })
    expect(applyModelConfig({ g_tool_tags: 'ap' }, 'openai').settings.toolTags).toEqual(['ap'])
  })

  it('P-21: reads the section of the provider in use and of no other', () => {
    const config = {
      openai: { g_reasoning_effort: 'low', g_use_responses_api: false },
      anthropic: { g_max_tokens: 4096, g_reasoning_budget_tokens: 2048, g_apex_web_credential: 'CLAUDE' },
      oci: { g_compartment_id: 'ocid1', g_region: 'eu-frankfurt-1' },
      g_enable_reasoning: true,
    }
    expect(applyModelConfig(config, 'anthropic')).toEqual({
      settings: {
        ...NOTHING,
        credential: 'CLAUDE',
        maxOutputTokens: 4096,
        reasoning: { level: 'low', budgetTokens: 2048 },
      },
      warnings: [expect.stringMatching(/^anthropic.g_apex_web_credential has no effect/)],
    })
    expect(applyModelConfig(config, 'oci').settings.providerSettings).toEqual({
      g_compartment_id: 'ocid1',
      g_region: 'eu-frankfurt-1',
    })
    expect(applyModelConfig(config, 'openai').settings.providerSettings).toEqual({ g_use_responses_api: false })
  })

  it('G-54: the generic credential comes before that of the section', () => {
    const config = { g_apex_web_credential: 'GENERIC', google: { g_apex_web_credential: 'OWN' } }
    expect(applyModelConfig(config, 'google').settings.credential).toBe('GENERIC')
  })

  it('G-54, P-22: a named credential is never dropped in silence: both places are reported, with the way that there is', () => {
    const config = { g_apex_web_credential: 'GENERIC', google: { g_apex_web_credential: 'OWN' } }
    const { warnings } = applyModelConfig(config, 'google')
    expect(warnings.map((warning) => warning.split(' ')[0])).toEqual([
      'g_apex_web_credential',
      'google.g_apex_web_credential',
    ])
    for (const warning of warnings) expect(warning).toContain('createRuntime({ providers })')
    // that of another provider is not meant
    expect(applyModelConfig({ google: { g_apex_web_credential: 'OWN' } }, 'openai').warnings).toEqual([])
  })

  it('G-49: what was set for the provider wins over the generic level; nothing set means low', () => {
    const level = (config: object, provider = 'xai') =>
      applyModelConfig({ g_enable_reasoning: true, ...config }, provider).settings.reasoning
    expect(level({ g_reasoning_level: 'high', xai: { g_reasoning_effort: 'low' } })).toEqual({ level: 'low' })
    expect(level({ g_reasoning_level: 'high', xai: {} })).toEqual({ level: 'high' })
    expect(level({})).toEqual({ level: 'low' })
    expect(level({ google: { g_reasoning_budget: -1 } }, 'google')).toEqual({ level: 'low', budgetTokens: -1 })
  })

  it('G-49: settings of reasoning without the switch do nothing, and that is said', () => {
    const { settings, warnings } = applyModelConfig({ g_reasoning_level: 'high' }, 'openai')
    expect(settings.reasoning).toBeNull()
    expect(warnings).toEqual(['reasoning of openai is configured but not switched on: g_enable_reasoning'])
  })

  it('G-50: an effort word of a provider that is no level of ours is handed on', () => {
    const config = { g_enable_reasoning: true, openai: { g_reasoning_effort: 'minimal' } }
    const { settings } = applyModelConfig(config, 'openai')
    expect(settings.reasoning).toEqual({})
    expect(settings.providerSettings).toEqual({ g_reasoning_effort: 'minimal' })
  })

  it('P-20: a value of the wrong type is ignored, and that is said', () => {
    const config = { g_enable_tools: 'yes', g_base_url: 7, g_tool_tags: [1], g_reasoning_level: 'extreme', openai: [] }
    const { settings, warnings } = applyModelConfig({ ...config, g_max_tool_calls: '5' }, 'openai')
    expect(settings).toEqual(NOTHING)
    for (const key of [
      'g_enable_tools',
      'g_base_url',
      'g_tool_tags',
      'g_reasoning_level',
      'openai',
      'g_max_tool_calls',
    ])
      expect(warnings.some((warning) => warning.startsWith(`${key} is ignored`))).toBe(true)
  })

  it('P-22, P-W5: unknown keys are reported in both places, and one at the wrong place with the right one', () => {
    const config = { g_max_tokens: 100, g_temprature: 1, anthropic: { g_top: 1 }, google: { nobody_cares: true } }
    expect(applyModelConfig(config, 'anthropic').warnings).toEqual([
      'g_max_tokens has no effect at the root: write it in the section "anthropic"',
      'g_temprature is not known and has no effect',
      'anthropic.g_top is not known and has no effect',
    ])
  })

  it('P-22: the section of a provider that is not ours is read as it is, and what no request carries is reported', () => {
    const config = { acme: { region: 'eu', fast: true, nested: {} } }
    expect(applyModelConfig(config, 'acme')).toMatchObject({
      settings: { providerSettings: { region: 'eu', fast: true } },
      warnings: [
        'acme.nested is not known and has no effect',
        'acme.region has no effect here',
        'acme.fast has no effect here',
      ],
    })
    expect(applyModelConfig(config, 'openai').warnings).toEqual(['acme is not known and has no effect'])
  })

  it.each([
    [{ g_max_tool_calls: -1 }, 'g_max_tool_calls'],
    [{ g_max_tool_calls: 1.5 }, 'g_max_tool_calls'],
    [{ anthropic: { g_max_tokens: 0 } }, 'anthropic.g_max_tokens'],
  ])('G-35: %j is refused by name', (config, place) => {
    expect(() => applyModelConfig(config, 'anthropic')).toThrow(`${place}: must be a whole number`)
  })

  it('P-23: the override may carry the answer schema', () => {
    expect(applyModelConfig({ response_schema: { type: 'object' } }, 'openai').settings.responseSchema).toEqual({
      type: 'object',
    })
  })

  it('CASE-22, CASE-29: keys that reach a prototype change nothing and are shown escaped', () => {
    const config = JSON.parse('{"__proto__":{"g_enable_tools":true},"a\\nb":1,"acme":{"__proto__":"x"}}')
    const { settings, warnings } = applyModelConfig(config, 'acme')
    expect(settings.enableTools).toBe(false)
    expect(Object.getPrototypeOf(settings.providerSettings)).toBe(Object.prototype)
    expect(warnings).toContain('a\\nb is not known and has no effect')
  })
})

describe('mergeModelConfig', () => {
  const base = {
    g_enable_tools: true,
    g_max_tool_calls: 3,
    openai: { g_reasoning_effort: 'low', g_use_responses_api: true },
  }

  it('P-18, P-W4: joins key by key, the override wins, sections key by key too', () => {
    const override = { g_max_tool_calls: 5, openai: { g_reasoning_effort: 'high' }, google: { g_reasoning_budget: 1 } }
    expect(mergeModelConfig(base, override)).toEqual({
      g_enable_tools: true,
      g_max_tool_calls: 5,
      openai: { g_reasoning_effort: 'high', g_use_responses_api: true },
      google: { g_reasoning_budget: 1 },
    })
    expect(base.g_max_tool_calls).toBe(3)
  })

  it('P-18: an answer schema is replaced as a whole, and null takes a key out', () => {
    const withSchema = { response_schema: { type: 'object', properties: { a: {} } } }
    expect(mergeModelConfig(withSchema, { response_schema: { type: 'array' } })).toEqual({
      response_schema: { type: 'array' },
    })
    expect(mergeModelConfig(base, { g_enable_tools: null, openai: { g_reasoning_effort: null } })).toEqual({
      g_max_tool_calls: 3,
      openai: { g_use_responses_api: true },
    })
  })

  it('P-18: `replace` puts the override in place of everything', () => {
    expect(mergeModelConfig(base, { g_max_tool_calls: 5 }, 'replace')).toEqual({ g_max_tool_calls: 5 })
    expect(mergeModelConfig(base, undefined, 'replace')).toBe(base)
    expect(mergeModelConfig(null, undefined)).toBeNull()
  })

  it('CASE-22: keys that reach a prototype change no prototype', () => {
    mergeModelConfig(JSON.parse('{"__proto__":{}}'), JSON.parse('{"__proto__":{"admin":true}}'))
    expect(({} as { admin?: unknown }).admin).toBeUndefined()
  })
})
