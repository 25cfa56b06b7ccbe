import type { JsonValue } from '@sluice/core'
import { definePlugin, Refusal, Stage, Veto } from '@sluice/core'
import { z } from 'zod'
import { codeSchema } from '../rules/narrowing.js'
import { findLinks } from './find-links.js'

const hostSchema = z
  .string()
  .max(255)
  .regex(
    /^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/,
    "must be a host in lower case, such as 'example.com' or '*.example.com'",
  )

/**
 * Lets a reply through only where every link in it leads to a named host: an image or a link that a model was told to write
 * carries data out as soon as somebody shows or follows it. Checks the text and the structured output of every reply, or
 * (`when: 'labelled'`) of those whose request held untrusted text.
 *
 * @example
 * checkLinks({ hosts: ['example.com', '*.example.org'] })
 */
export const checkLinks = definePlugin({
  name: 'hooks-policy/check-links',
  hookApi: 1,
  options: z.strictObject({
    /** `*.` stands for one or more labels in front; the bare host is named apart. An empty list lets no link through. */
    hosts: z.array(hostSchema),
    when: z.enum(['always', 'labelled']).default('always'),
    /** `refuse` has the model write another reply, once; `veto` ends the run. */
    on: z.enum(['refuse', 'veto']).default('refuse'),
    /** Only replies of these agents. */
    agents: z.array(codeSchema).optional(),
  }),
  apply(hooks, host) {
    const { hosts, when, on, agents } = host.options
    const exact = new Set(hosts.filter((name) => !name.startsWith('*.')))
    const suffixes = hosts.filter((name) => name.startsWith('*.')).map((name) => name.slice(1))
    const allowed = (name: string | null): boolean =>
      name !== null && (exact.has(name) || suffixes.some((suffix) => name.endsWith(suffix) && name !== suffix))
    hooks.inspectReply.tap({ name: 'check-links', stage: Stage.policy }, ({ text, output, labels, agentCode }) => {
      if (when === 'labelled' && labels.length === 0) return
      if (agents !== undefined && agentCode !== null && !agents.includes(agentCode)) return
      for (const part of textsOf(text, output)) {
        const bad = findLinks(part).find(({ host: name }) => !allowed(name))
        if (bad === undefined) continue
        if (on === 'refuse')
          throw new Refusal(
            'LINK_NOT_ALLOWED',
            'The reply holds a link to a host that is not allowed. Write it without links.',
          )
        throw new Veto(
          'LINK_NOT_ALLOWED',
          `A reply holds a link to a host that is not allowed: ${JSON.stringify(bad.text)}`,
          {
            host: bad.host,
            link: bad.text,
          },
        )
      }
    })
  },
})

/** Every text of a reply: its own, and the keys and strings of its output. */
function* textsOf(text: string | null, output: JsonValue | undefined): Generator<string> {
  if (text !== null) yield text
  const open: (JsonValue | undefined)[] = [output]
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value === 'string') yield value
    else if (Array.isArray(value)) for (const item of value as readonly JsonValue[]) open.push(item)
    else if (value !== null && typeof value === 'object') {
      for (const [key, item] of Object.entries(value)) {
        yield key
        open.push(item as JsonValue)
      }
    }
  }
}
