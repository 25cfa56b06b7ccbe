import type { RunContext } from '../context/run-context.js'
import { escapeControl } from '../internal/escape-text.js'
import type { ToolDefinition } from './tool-definition.js'

/**
 * The text that a model reads in place of a result where the run context lacks a key that the tool requires;
 * `undefined` where all are bound. The call counts as refused and the handler does not run.
 */
export function missingContextText(tool: ToolDefinition, runContext: RunContext): string | undefined {
  if (tool.requiresContext.length === 0) return undefined
  const missing = tool.requiresContext.filter((key) => !Object.hasOwn(runContext, key))
  if (missing.length === 0) return undefined
  const names = missing.map((key) => `"${escapeControl(key, 80)}"`).join(', ')
  return `This tool cannot be used here: the application has not bound ${names} to this run. Nothing in the arguments can change that.`
}
