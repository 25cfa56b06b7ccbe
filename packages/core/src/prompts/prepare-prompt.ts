import type { RunContext } from '../context/run-context.js'
import { SluiceError } from '../errors/sluice-error.js'
import { escapeControl } from '../internal/escape-text.js'
import type { JsonObject, MaybePromise } from '../internal/json.js'
import { isThenable } from '../internal/json.js'
import type { CompiledSchema, Validation } from '../tools/compile-validator.js'
import { compileValidator } from '../tools/compile-validator.js'
import { issuesText } from '../tools/schema-issue.js'
import type { CompiledTemplate } from './compile-template.js'
import { compileTemplate } from './compile-template.js'
import type { ModelConfigSettings } from './model-config.js'
import { applyModelConfig, mergeModelConfig } from './model-config.js'
import type { PromptProfile } from './prompt-profile.js'
import type { PromptParameters } from './prompt-values.js'
import { promptValues } from './prompt-values.js'
import { checkPlaceholders, renderCompiled } from './render-template.js'

/** A profile ready for use: templates scanned, schemas compiled. Holds nothing of any call. */
export interface PreparedPrompt {
  readonly profile: PromptProfile
  readonly system: CompiledTemplate | null
  readonly user: CompiledTemplate
  readonly responseSchema: CompiledSchema | null
  readonly parametersSchema: CompiledSchema | null
}

/** Both prompts of a call, and the placeholders for which the run context replaced a parameter (P-15: to be logged). */
export interface RenderedPrompt {
  readonly system: string | null
  readonly user: string
  readonly replaced: readonly string[]
}

/** What a call may set over its profile (P-17). */
export interface PromptOverrides {
  readonly provider?: string
  readonly model?: string
  readonly config?: JsonObject
  /** `merge` (default) joins `config` with the profile's key by key; `replace` puts it in its place (P-18). */
  readonly configMode?: 'merge' | 'replace'
}

/** Provider, model, settings and answer schema of a call, without its texts (P-25). */
export interface PromptCall {
  readonly provider: string
  readonly model: string
  readonly settings: ModelConfigSettings
  readonly responseSchema: CompiledSchema | null
  readonly warnings: readonly string[]
}

/**
 * Scans the templates and compiles the schemas of a profile.
 *
 * @throws INVALID_CONFIG where a schema is not valid JSON Schema
 */
export async function preparePrompt(profile: PromptProfile): Promise<PreparedPrompt> {
  const prepared: PreparedPrompt = {
    profile,
    system: profile.system_prompt_template === null ? null : compileTemplate(profile.system_prompt_template),
    user: compileTemplate(profile.user_prompt_template),
    responseSchema: profile.response_schema === null ? null : compileValidator(profile.response_schema),
    parametersSchema: profile.parameters_schema === null ? null : compileValidator(profile.parameters_schema),
  }
  await prepared.responseSchema?.ready()
  await prepared.parametersSchema?.ready()
  return Object.freeze(prepared)
}

/**
 * Renders both prompts of a profile: parameters are held to `parameters_schema` (P-26), every placeholder of both
 * templates has to have a value (P-12), then each is rendered in one pass (P-14). At once where nothing has to be loaded.
 *
 * @throws INVALID_CONFIG (`reason` `prompt.parameters`) naming what does not fit the schema
 * @throws MISSING_PLACEHOLDER naming the first placeholder without a value
 */
export function renderPrompt(
  prompt: PreparedPrompt,
  parameters: PromptParameters | undefined,
  runContext?: RunContext,
): MaybePromise<RenderedPrompt> {
  if (prompt.parametersSchema === null) return render(prompt, parameters, runContext)
  const settle = (found: Validation<unknown>) => {
    if (!found.ok) throw unfit(prompt.profile.code, found)
    return render(prompt, parameters, runContext)
  }
  const found = prompt.parametersSchema.validate(parameters ?? {})
  return isThenable(found) ? found.then(settle) : settle(found)
}

function render(prompt: PreparedPrompt, parameters?: PromptParameters, runContext?: RunContext): RenderedPrompt {
  const values = promptValues(parameters, runContext)
  const templates = prompt.system === null ? [prompt.user] : [prompt.system, prompt.user]
  checkPlaceholders(templates, values, `profile "${prompt.profile.code}"`)
  const names = templates.flatMap((template) => template.placeholders)
  return {
    system: prompt.system === null ? null : renderCompiled(prompt.system, values),
    user: renderCompiled(prompt.user, values),
    replaced: names.filter((name, index) => names.indexOf(name) === index && values.replaced(name)),
  }
}

/**
 * What a call of a profile uses besides its texts: overrides applied, configuration joined and read (P-17 to P-23). A
 * `response_schema` of the override wins over the profile's.
 *
 * @throws INVALID_CONFIG where the configuration cannot be meant
 */
export function resolvePromptCall(prompt: PreparedPrompt, overrides: PromptOverrides = {}): PromptCall {
  const { profile } = prompt
  const provider = overrides.provider ?? profile.provider
  const config = mergeModelConfig(profile.model_config, overrides.config, overrides.configMode)
  const { settings, warnings } = applyModelConfig(config, provider)
  const { responseSchema } = settings
  return {
    provider,
    model: overrides.model ?? profile.model,
    settings,
    responseSchema: responseSchema === null ? prompt.responseSchema : compileValidator(responseSchema),
    warnings,
  }
}

function unfit(code: string, found: Extract<Validation<unknown>, { ok: false }>): SluiceError {
  return new SluiceError(
    'INVALID_CONFIG',
    `The parameters do not fit prompt profile '${escapeControl(code, 80)}': ${issuesText(found.issues)}.`,
    {
      reason: 'prompt.parameters',
      details: { profile: code, path: escapeControl(found.issues[0]?.path ?? '', 200) },
      ...(found.cause === undefined ? {} : { cause: found.cause }),
    },
  )
}
