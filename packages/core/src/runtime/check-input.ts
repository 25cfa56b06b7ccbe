import type { ResolvedAgent } from '../agents/agent-type.js'
import { SluiceError } from '../errors/sluice-error.js'
import { isPlainJson, isPlainObject, isThenable } from '../internal/json.js'
import type { JsonObject, MaybePromise } from '../internal/json.js'
import type { Validation } from '../tools/compile-validator.js'
import { issuesText } from '../tools/schema-issue.js'

/** The input of a run as its agent's schema gives it. @throws INVALID_CONFIG (`reason` `input.schema`) naming the paths */
export function checkInput(agent: ResolvedAgent, input: JsonObject): MaybePromise<JsonObject> {
  const schema = agent.definition.input
  if (schema === null) return input
  const settle = (found: Validation<unknown>): JsonObject => {
    if (!found.ok) {
      throw new SluiceError(
        'INVALID_CONFIG',
        `The input does not fit agent "${agent.code}": ${issuesText(found.issues)}.`,
        {
          reason: 'input.schema',
          details: { agentCode: agent.code, issues: found.issues.map(({ path, message }) => ({ path, message })) },
        },
      )
    }
    if (!isPlainObject(found.value) || !isPlainJson(found.value)) {
      throw new SluiceError(
        'INVALID_CONFIG',
        `The input schema of agent "${agent.code}" gives something that is not plain JSON data, which cannot be kept.`,
        { reason: 'input.schema' },
      )
    }
    return found.value as JsonObject
  }
  const found = schema.validate(input)
  return isThenable(found) ? found.then(settle) : settle(found)
}
