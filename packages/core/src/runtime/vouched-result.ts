import type { ChildResult, ChildRun } from '../agents/agent-work.js'
import { SluiceError } from '../errors/sluice-error.js'
import { escapeControl } from '../internal/escape-text.js'
import { isPlainObject, ownValue } from '../internal/json.js'
import type { JsonObject } from '../internal/json.js'
import { resolveReference } from '../tools/schema-parts.js'
import type { RuntimeCore } from './runtime-core.js'

/**
 * An owner may vouch for a result that cannot carry text of its sources: numbers, booleans and words of a fixed list, as a
 * schema says that is enforced. @throws INVALID_CONFIG (`reason` `drops_labels.schema`)
 */
export async function checkVouched(core: Pick<RuntimeCore, 'agents'>, child: ChildRun): Promise<void> {
  const agent = await core.agents.resolve(child.agent, child.version)
  const schema = (child.output ?? agent.definition.output)?.jsonSchema
  if (schema !== undefined && holdsNoText(schema, schema, 0)) return
  throw new SluiceError(
    'INVALID_CONFIG',
    `The labels of agent "${escapeControl(child.agent, 100)}" cannot be dropped: ${schema === undefined ? 'it has no answer schema' : 'its answer schema lets free text through'}.`,
    {
      reason: 'drops_labels.schema',
      hint: 'Give it an output schema of numbers, booleans and enumerations in closed objects, or leave dropsLabels out.',
      details: { agent: child.agent },
    },
  )
}

/** The answer alone: neither the model's own wording of it nor its conversation comes with it. */
export function withoutLabels(result: ChildResult): ChildResult {
  // without an answer (a refusal) there is nothing that was checked
  if (result.output === undefined) return { ...result, text: null, messages: [], labels: [] }
  return { ...result, text: JSON.stringify(result.output), messages: [], labels: [] }
}

/** Whether a schema admits no value that holds a text of the sender's choice. */
export function holdsNoText(root: JsonObject, schema: unknown, depth: number): boolean {
  if (!isPlainObject(schema) || depth > 32) return false
  const part = schema as JsonObject
  if (typeof part.$ref === 'string') return holdsNoText(root, resolveReference(root, part.$ref), depth + 1)
  if (Object.hasOwn(part, 'const') || Array.isArray(part.enum)) return true
  const branches = ['anyOf', 'oneOf'].flatMap((keyword) => ownValue(part, keyword) ?? []) as unknown[]
  if (branches.length > 0) return branches.every((branch) => holdsNoText(root, branch, depth + 1))
  switch (part.type) {
    case 'number':
    case 'integer':
    case 'boolean':
    case 'null':
      return true
    case 'array':
      return holdsNoText(root, part.items, depth + 1)
    case 'object': {
      if (part.additionalProperties !== false || Object.hasOwn(part, 'patternProperties')) return false
      const properties = ownValue(part, 'properties')
      return isPlainObject(properties) && Object.values(properties).every((one) => holdsNoText(root, one, depth + 1))
    }
    default:
      return false
  }
}
