import type { StandardSchemaV1 } from '../hooks/standard-schema.js'
import { boundText } from '../internal/bounded-text.js'
import { escapeControl } from '../internal/escape-text.js'

/** One thing that does not fit. `path` reads `lines[0].amount`; empty for the value as a whole. */
export interface SchemaIssue {
  readonly path: string
  readonly message: string
}

type StandardIssue = StandardSchemaV1.Issue

const MAX_ISSUES = 20
const MAX_SHOWN = 5

/** Issues of a Standard Schema in our form. Of a union, the branch that came closest speaks. */
export function fromStandardIssues(issues: readonly StandardIssue[]): SchemaIssue[] {
  const found: SchemaIssue[] = []
  for (const issue of issues) {
    if (found.length >= MAX_ISSUES) break
    add(found, issue, [], 0)
  }
  return found
}

function add(found: SchemaIssue[], issue: StandardIssue, above: readonly PropertyKey[], depth: number): void {
  const path = [...above, ...(issue.path ?? []).map((segment) => (typeof segment === 'object' ? segment.key : segment))]
  const closest = depth < 8 ? closestBranch(issue) : undefined
  if (closest === undefined) {
    if (found.length < MAX_ISSUES) found.push({ path: issuePath(path), message: issue.message })
    return
  }
  for (const inner of closest) add(found, inner, path, depth + 1)
}

/** zod lists what each branch of a union refused under `errors`. */
function closestBranch(issue: StandardIssue): readonly StandardIssue[] | undefined {
  const { errors } = issue as { errors?: unknown }
  if (!Array.isArray(errors)) return undefined
  const tried = (errors as unknown[]).filter(
    (branch): branch is StandardIssue[] => Array.isArray(branch) && branch.length > 0,
  )
  let closest: StandardIssue[] | undefined
  for (const branch of tried) {
    if (closest === undefined || reach(branch) > reach(closest)) closest = branch
  }
  return closest
}

/** How far a branch got: deeper faults first, then fewer of them. */
function reach(branch: readonly StandardIssue[]): number {
  const depth = Math.min(...branch.slice(0, MAX_ISSUES).map((issue) => issue.path?.length ?? 0))
  return depth * 1000 - Math.min(branch.length, 999)
}

/** Segments as `lines[0].amount`. */
export function issuePath(segments: readonly PropertyKey[]): string {
  let path = ''
  for (const segment of segments) {
    if (typeof segment === 'number') path += `[${segment}]`
    else path += path === '' ? String(segment) : `.${String(segment)}`
  }
  return path
}

/** The first issues as one line of at most 1 000 units: `lines[0].amount: expected number; ...`, fit for a model or a log. */
export function issuesText(issues: readonly SchemaIssue[]): string {
  const shown = issues.slice(0, MAX_SHOWN).map(({ path, message }) => {
    const text = escapeControl(message, 200)
    return path === '' ? text : `${escapeControl(path, 120)}: ${text}`
  })
  const more = issues.length - shown.length
  const { text, cut } = boundText(more > 0 ? `${shown.join('; ')}; and ${more} more` : shown.join('; '), 999)
  return cut ? `${text}…` : text
}
