import type { MaybePromise } from '../internal/json.js'
import { isThenable } from '../internal/json.js'
import type { Validation } from './compile-validator.js'
import { issuesText } from './schema-issue.js'
import type { ToolDefinition } from './tool-definition.js'

/** Arguments as the handler gets them, or a short text for the model that names what does not fit. */
export type ValidatedArguments<Input> =
  | { readonly ok: true; readonly value: Input }
  | { readonly ok: false; readonly fault: string; readonly cause?: unknown }

/**
 * Checks parsed arguments against the tool's schema, at once where the schema is synchronous. The handler gets the value
 * that comes back and no other: defaults applied, transforms run, a refused `null` of an optional key absent (CASE-17).
 */
export function validateToolArguments<Input>(
  tool: ToolDefinition<Input>,
  value: unknown,
): MaybePromise<ValidatedArguments<Input>> {
  const result = tool.input.validate(value)
  return isThenable(result) ? result.then(toArguments) : toArguments(result)
}

function toArguments<Input>(result: Validation<Input>): ValidatedArguments<Input> {
  if (result.ok) return result
  const fault = `The arguments do not fit the tool: ${issuesText(result.issues)}.`
  return result.cause === undefined ? { ok: false, fault } : { ok: false, fault, cause: result.cause }
}
