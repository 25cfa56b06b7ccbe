import { Veto } from '../errors/answers.js'
import type { StandardSchemaV1 } from '../hooks/standard-schema.js'
import type { JsonObject, MaybePromise } from '../internal/json.js'
import { isThenable } from '../internal/json.js'
import { withoutAbsentNulls } from './absent-nulls.js'
import { loadJsonSchemaCheck } from './json-schema-check.js'
import type { SchemaOutput, SchemaSource } from './schema.js'
import { isStandardSchema, toJsonSchema } from './schema.js'
import type { SchemaIssue } from './schema-issue.js'
import { fromStandardIssues } from './schema-issue.js'

/** What a validation found. `value` is what the author's types promise: defaults applied, transforms run. */
export type Validation<Output> =
  | { readonly ok: true; readonly value: Output }
  | {
      readonly ok: false
      /** At least one, at most 20. */
      readonly issues: readonly SchemaIssue[]
      /** Set where the schema itself threw (a refinement or transform with a bug). */
      readonly cause?: unknown
    }

/** A schema ready for use: what the model is offered, and the check of what it sends. */
export interface CompiledSchema<Output = unknown> {
  /** As {@link toJsonSchema} gives it; frozen. */
  readonly jsonSchema: JsonObject
  /**
   * Checks a value: at once where the schema is synchronous and loaded, else as a promise. A `null` for an optional key
   * that the schema refuses counts as absent (CASE-17). Neither throws nor rejects, but for a `Veto` of a refinement.
   */
  validate(value: unknown): MaybePromise<Validation<Output>>
  /**
   * Loads what the check needs: nothing for zod, the JSON Schema compiler (at the first use only) for JSON Schema. Called
   * at creation it makes the first `validate` synchronous and tells early of a schema that is itself wrong.
   *
   * @throws INVALID_CONFIG where the JSON Schema is not valid
   */
  ready(): MaybePromise<void>
}

/**
 * Makes the check of a schema. The JSON Schema compiler is imported when it is first needed, since that takes a while.
 *
 * @throws SCHEMA_UNSUPPORTED where the schema cannot be expressed as JSON Schema
 */
export function compileValidator<Source extends SchemaSource>(source: Source): CompiledSchema<SchemaOutput<Source>> {
  return validatorOf(source, toJsonSchema(source))
}

/** {@link compileValidator} for a source whose JSON Schema is there already. */
export function validatorOf<Source extends SchemaSource>(
  source: Source,
  jsonSchema: JsonObject,
): CompiledSchema<SchemaOutput<Source>> {
  const compiled = isStandardSchema(source)
    ? new StandardValidator(source, jsonSchema)
    : new JsonSchemaValidator(jsonSchema, source.$schema)
  return Object.freeze(compiled) as CompiledSchema<SchemaOutput<Source>>
}

abstract class Validator implements CompiledSchema {
  readonly jsonSchema: JsonObject

  constructor(jsonSchema: JsonObject) {
    this.jsonSchema = jsonSchema
  }

  abstract check(value: unknown): MaybePromise<Validation<unknown>>
  abstract ready(): MaybePromise<void>

  validate(value: unknown): MaybePromise<Validation<unknown>> {
    const first = this.check(value)
    if (isThenable(first)) return first.then((result) => this.#settle(value, result))
    return this.#settle(value, first)
  }

  #settle(value: unknown, first: Validation<unknown>): MaybePromise<Validation<unknown>> {
    if (first.ok) return first
    const without = withoutAbsentNulls(this.jsonSchema, value)
    return without === value ? first : this.check(without)
  }
}

class StandardValidator extends Validator {
  readonly #standard: StandardSchemaV1.Props

  constructor(source: StandardSchemaV1, jsonSchema: JsonObject) {
    super(jsonSchema)
    this.#standard = source['~standard']
  }

  check(value: unknown): MaybePromise<Validation<unknown>> {
    try {
      const result = this.#standard.validate(value)
      return isThenable(result) ? result.then(fromStandardResult, threw) : fromStandardResult(result)
    } catch (error) {
      return threw(error)
    }
  }

  ready(): void {}
}

class JsonSchemaValidator extends Validator {
  readonly #dialect: unknown
  #check: ((value: unknown) => readonly SchemaIssue[]) | undefined
  #loading: Promise<void> | undefined

  constructor(jsonSchema: JsonObject, dialect: unknown) {
    super(jsonSchema)
    this.#dialect = dialect
  }

  check(value: unknown): MaybePromise<Validation<unknown>> {
    if (this.#check === undefined) return this.#load().then(() => this.check(value), threw)
    try {
      const issues = this.#check(value)
      return issues.length === 0 ? { ok: true, value } : { ok: false, issues }
    } catch (error) {
      return threw(error)
    }
  }

  ready(): MaybePromise<void> {
    return this.#check === undefined ? this.#load() : undefined
  }

  #load(): Promise<void> {
    this.#loading ??= loadJsonSchemaCheck(this.jsonSchema, this.#dialect).then((check) => {
      this.#check = check
    })
    return this.#loading
  }
}

function fromStandardResult(result: StandardSchemaV1.Result<unknown>): Validation<unknown> {
  return result.issues === undefined
    ? { ok: true, value: result.value }
    : { ok: false, issues: fromStandardIssues(result.issues) }
}

function threw(error: unknown): Validation<unknown> {
  if (Veto.isInstance(error)) throw error
  return { ok: false, issues: [{ path: '', message: 'the value could not be checked' }], cause: error }
}
