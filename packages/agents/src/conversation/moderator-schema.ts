import type { CompiledSchema } from '@sluice/core'
import { z } from 'zod'

const SPEAKER = z.strictObject({ agent_code: z.string(), moderator_rationale: z.string() })
const OFFERED = z.strictObject({
  next_speaker: SPEAKER.describe('Who speaks next, and why.'),
  discussion_complete: z.boolean().describe('True where nobody has to speak any more.'),
})
// a provider that holds its models to no schema may leave it out: that ends the conversation, and is no fault of the answer
const ACCEPTED = z.strictObject({ ...OFFERED.shape, next_speaker: SPEAKER.nullish() })

/** The schema in which a moderator answers (C-9). What is offered asks for all of it; an answer may name nobody (C-10). */
export function moderatorSchema(): CompiledSchema {
  const { $schema: _dialect, ...jsonSchema } = z.toJSONSchema(OFFERED)
  return Object.freeze({
    jsonSchema: jsonSchema as CompiledSchema['jsonSchema'],
    validate(value: unknown) {
      const found = ACCEPTED.safeParse(value)
      if (found.success) return { ok: true as const, value: found.data }
      const issues = found.error.issues.slice(0, 20)
      return {
        ok: false as const,
        issues: issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message })),
      }
    },
    ready: () => undefined,
  })
}
