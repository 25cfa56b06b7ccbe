import { SluiceError } from '../errors/sluice-error.js'
import { escapeControl } from '../internal/escape-text.js'
import type { CompiledTemplate } from './compile-template.js'
import { compileTemplate } from './compile-template.js'
import type { PromptParameters, PromptValues } from './prompt-values.js'
import { promptValues } from './prompt-values.js'
import { valueText } from './value-text.js'

/**
 * Renders a template in one literal pass: a value is text, is never scanned again, and none of its characters has a
 * meaning (P-14). How placeholders and braces are written stands at `compileTemplate`.
 *
 * @throws MISSING_PLACEHOLDER naming the first placeholder without a value; `details.missing` has all (P-12)
 * @throws INVALID_CONFIG where a value cannot be written as text
 */
export function renderTemplate(template: string, values: PromptParameters): string {
  const compiled = compileTemplate(template)
  const lookup = promptValues(values)
  checkPlaceholders([compiled], lookup)
  return renderCompiled(compiled, lookup)
}

/** Names of the placeholders of a template, in order of appearance, each once. */
export function placeholdersOf(template: string): readonly string[] {
  return compileTemplate(template).placeholders
}

/**
 * Checks that every placeholder of all templates has a value, before any of them is rendered (P-12). `owner` says whose
 * templates they are, for the error.
 */
export function checkPlaceholders(templates: readonly CompiledTemplate[], values: PromptValues, owner?: string): void {
  let missing: string[] | undefined
  for (const template of templates) {
    for (const name of template.placeholders) {
      if (values.get(name) === undefined) (missing ??= []).push(`{${name}}`)
    }
  }
  if (missing === undefined) return
  const all = [...new Set(missing)]
  const more = all.length > 1 ? ` (and ${all.slice(1, 10).join(', ')}${all.length > 10 ? ' ...' : ''})` : ''
  const given = values.names().map((name) => `'${escapeControl(name, 60)}'`)
  throw new SluiceError(
    'MISSING_PLACEHOLDER',
    `Placeholder ${all[0]}${more}${owner === undefined ? '' : ` of ${owner}`} has no value.`,
    {
      details: { placeholder: all[0] as string, missing: all },
      hint: `Values were given for ${given.length === 0 ? 'nothing' : given.join(', ')}. Give it in the input, or bind it in the run context. A literal brace is written {{ or }}.`,
    },
  )
}

/** Renders a template whose placeholders were checked. */
export function renderCompiled(template: CompiledTemplate, values: PromptValues): string {
  const { pieces } = template
  let text = pieces[0] as string
  for (let index = 1; index < pieces.length; index += 2) {
    const name = pieces[index] as string
    text += valueText(name, values.get(name)) + (pieces[index + 1] as string)
  }
  return text
}
