import type { Hooks, JsonObject, Label } from '@sluice/core'
import { definePlugin, Stage, Veto } from '@sluice/core'
import { z } from 'zod'
import { humanFields } from '../approval/approval.js'
import type { ApprovalApi } from '../approval/approval.js'
import { createHumanGate } from '../approval/human-gate.js'
import { codeSchema } from '../rules/narrowing.js'

const labelSchema = z.strictObject({
  kind: z.enum(['tool', 'hosted', 'mcp', 'input', 'memory', 'delegate']),
  source: codeSchema,
})

/**
 * Stops tools that can carry data out once untrusted text was in the request that asked for them: what a page, a mail or a file
 * said may have been an order. The core labels such text and hands the labels on, through replies, results and nested runs.
 *
 * Hosted tools are stopped before the request that offers them. A tool with an agent behind it is let through: the calls of that
 * agent carry the same labels and are judged one by one.
 */
export const noExfiltration = definePlugin({
  name: 'hooks-policy/no-exfiltration',
  hookApi: 1,
  options: z.strictObject({
    /** `veto` ends the run; `ask` has a human decide, as `approval` does (hosted tools are vetoed all the same). */
    on: z.enum(['veto', 'ask']).default('veto'),
    /** Effects that count as carrying data out. */
    effects: z
      .array(z.enum(['read', 'write', 'send']))
      .min(1)
      .default(['send']),
    except: z
      .strictObject({
        /** Tools that may run all the same. */
        tools: z.array(codeSchema).default([]),
        /** Sources that are trusted. */
        labels: z.array(labelSchema).default([]),
      })
      .default({ tools: [], labels: [] }),
    ...humanFields,
  }),
  apply(hooks, host): { api: ApprovalApi } {
    const { on, effects, except, ...options } = host.options
    const human = createHumanGate(host, options)
    const rule: Rule = {
      stopping: (tool, effect, labels) => {
        if (!effects.includes(effect) || except.tools.includes(tool)) return undefined
        const bad = labels.filter(
          (label) => !except.labels.some(({ kind, source }) => kind === label.kind && source === label.source),
        )
        return bad.length === 0 ? undefined : bad
      },
    }
    const name = 'no-exfiltration'
    guardHosted(hooks, name, rule)
    if (on === 'veto') {
      hooks.beforeToolCall.tap({ name, stage: Stage.policy }, ({ toolCode, tool, labels }) => {
        const bad = tool.agent === null ? rule.stopping(toolCode, tool.effect, labels) : undefined
        if (bad !== undefined) throw veto(toolCode, tool.effect, bad)
      })
    } else {
      hooks.inspectToolInput.tapPromise({ name, stage: Stage.approve }, async (context) => {
        const { toolCode, tool, labels } = context
        const bad = tool.agent === null ? rule.stopping(toolCode, tool.effect, labels) : undefined
        if (bad !== undefined) await human.ask(context, { code: 'EXFILTRATION', details: { labels: jsonOf(bad) } })
      })
      hooks.afterToolCall.tapPromise(name, async (context) => {
        if (context.outcome === 'not_run' && context.sent === 'no') await human.closed(context)
      })
      hooks.afterExecution.tapPromise(name, ({ rootExecutionId }) => human.ended(rootExecutionId))
    }
    return { api: { list: (rootExecutionId) => human.list(rootExecutionId) } }
  },
})

interface Rule {
  /** The labels for which a tool is stopped; `undefined` where it may run. */
  stopping(tool: string, effect: 'read' | 'write' | 'send', labels: readonly Label[]): readonly Label[] | undefined
}

function guardHosted(hooks: Hooks, name: string, rule: Rule): void {
  hooks.beforeModelCall.tap({ name, stage: Stage.policy }, ({ hostedTools, labels }) => {
    for (const { code, effect } of hostedTools) {
      const bad = rule.stopping(code, effect, labels)
      if (bad !== undefined) throw veto(code, effect, bad)
    }
  })
}

function veto(tool: string, effect: string, labels: readonly Label[]): Veto {
  const sources = labels.map(({ kind, source }) => `${kind} ${JSON.stringify(source)}`).join(', ')
  return new Veto(
    'EXFILTRATION',
    `The tool ${JSON.stringify(tool)} (${effect}) was asked for by a request that holds untrusted text of ${sources}.`,
    { tool, effect, labels: jsonOf(labels) },
  )
}

function jsonOf(labels: readonly Label[]): JsonObject[] {
  return labels.map(({ kind, source }) => ({ kind, source }))
}
