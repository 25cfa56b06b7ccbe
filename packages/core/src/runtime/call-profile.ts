import type { RunContext } from '../context/run-context.js'
import { Faults } from '../errors/faults.js'
import type { CallScope } from '../generate/call-scope.js'
import { readSettings } from '../generate/settings.js'
import { renderPrompt, resolvePromptCall } from '../prompts/prepare-prompt.js'
import type { PromptOverrides } from '../prompts/prepare-prompt.js'
import type { PlanOptions } from './build-plan.js'
import { checkModelsBelow } from './check-models.js'
import { plainCall } from './plain-call.js'
import type { checkProfileOptions } from './plain-options.js'
import { firstMessages, profileSettings, profileTools } from './run-profile-agent.js'
import type { Generated } from './run-result.js'
import type { RuntimeFace } from './runtime-core.js'

/** `runtime.executeProfile`: load, check, render, override, configure, augment, call (P-17). */
export async function callProfile(
  face: RuntimeFace,
  options: ReturnType<typeof checkProfileOptions>,
): Promise<Generated> {
  const { core } = face
  const { prompt } = await core.prompts.resolve(options.profile, options.version)
  const overrides: PromptOverrides = {
    ...(options.provider === undefined ? {} : { provider: options.provider }),
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(options.config === undefined ? {} : { config: options.config }),
    ...(options.configMode === undefined ? {} : { configMode: options.configMode }),
  }
  const resolved = resolvePromptCall(prompt, overrides)
  if (options.config !== undefined && resolved.warnings.length > 0) {
    const fields = { profile: options.profile, warnings: resolved.warnings }
    core.parts.logger.warn(fields, 'configuration of a call: something has no effect or may be a mistake')
  }
  await checkModelsBelow(core, profileTools(core, [], resolved))
  const prepare = async (call: CallScope, base: PlanOptions) => {
    const rendered = await renderPrompt(prompt, options.parameters, call.run.facts.runContext as RunContext)
    const plan: PlanOptions = {
      ...base,
      settings: readSettings(profileSettings(core.parts.settings, resolved), options.settings, new Faults()),
      output: base.output ?? resolved.responseSchema,
      tools: profileTools(core, base.tools, resolved),
      reasoning: base.reasoning ?? resolved.settings.reasoning,
      ...(base.connection === undefined && resolved.settings.baseUrl !== null
        ? { connection: { baseUrl: resolved.settings.baseUrl } }
        : {}),
    }
    return { plan, messages: await firstMessages(call, rendered.system, rendered.user, []) }
  }
  return plainCall(face, options, `${resolved.provider}/${resolved.model}`, prepare)
}
