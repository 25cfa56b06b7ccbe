import type { ErrorObject, Options } from 'ajv'
import { SluiceError } from '../errors/sluice-error.js'
import type { JsonObject } from '../internal/json.js'
import type { SchemaIssue } from './schema-issue.js'
import { issuePath } from './schema-issue.js'

// Of the schema's own faults the compiler tells without the meta-schema, whose compilation would take a hundred times as
// long. One fault a value: gathering all would cost memory in proportion to what a model sends.
const OPTIONS: Options = Object.freeze({
  strict: false,
  meta: false,
  validateSchema: false,
  validateFormats: false,
  allErrors: false,
  logger: false,
})

/**
 * Compiles a JSON Schema into a check that lists what does not fit (empty: nothing). `dialect` is the `$schema` of the
 * original: draft 6 and 7 are read as such, everything else as draft 2020-12. Formats are not checked, unknown keywords
 * are ignored.
 *
 * @throws INVALID_CONFIG where the schema is not valid JSON Schema
 */
export async function loadJsonSchemaCheck(
  jsonSchema: JsonObject,
  dialect: unknown,
): Promise<(value: unknown) => readonly SchemaIssue[]> {
  const old = typeof dialect === 'string' && /draft-0[67]/.test(dialect)
  const Compiler = old ? (await import('ajv')).Ajv : (await import('ajv/dist/2020.js')).Ajv2020
  try {
    // a compiler of its own for each schema: their `$id`s never meet
    const validate = new Compiler(OPTIONS).compile(jsonSchema)
    return (value) => (validate(value) ? [] : (validate.errors ?? []).map(toIssue))
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new SluiceError('INVALID_CONFIG', `A JSON Schema is not valid: ${why.slice(0, 500)}`, {
      cause: error,
      reason: 'schema.invalid',
      hint: old ? 'It is read as draft 7.' : 'It is read as draft 2020-12; for draft 7 say so in `$schema`.',
    })
  }
}

function toIssue(error: ErrorObject): SchemaIssue {
  const segments = error.instancePath
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((segment) => (/^\d{1,9}$/.test(segment) ? Number(segment) : segment))
  return { path: issuePath(segments), message: `${error.message ?? 'does not fit'}${more(error)}` }
}

function more({ keyword, params }: ErrorObject): string {
  if (keyword === 'additionalProperties') return ` (${JSON.stringify(params.additionalProperty)})`
  if (keyword === 'enum' || keyword === 'const')
    return ` (${JSON.stringify(params.allowedValues ?? params.allowedValue)})`
  return ''
}
