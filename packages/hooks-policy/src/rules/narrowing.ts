import { z } from 'zod'

/** Code of an agent, a tool or a key of the run context. */
export const codeSchema = z.string().min(1).max(1_000)

/** One code or several. */
export const codesSchema = z.union([codeSchema, z.array(codeSchema).min(1)])

/** Which calls a rule of this package is about, beside its tool. */
export interface Narrowing {
  /** Only calls of these agents. @default all */
  readonly agent?: string | readonly string[] | undefined
  /** Whether plain calls, outside any agent, fall under the rule. @default 'include' */
  readonly standalone?: 'include' | 'exclude' | undefined
}

/** Fields of the options of every rule. A rule covers plain calls unless it is told otherwise (B-8). */
export const narrowingFields = {
  agent: codesSchema.optional(),
  standalone: z.enum(['include', 'exclude']).default('include'),
}

/** The codes as a list. */
export function listOf(codes: string | readonly string[]): readonly string[] {
  return typeof codes === 'string' ? [codes] : codes
}
