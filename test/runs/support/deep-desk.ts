import type { PluginInstance, Store } from '@sluice/core'
import { createRuntime, defineAgent, definePlugin, defineTool, Pause, Refusal } from '@sluice/core'
import type { ScriptStep } from '@sluice/testkit'
import { scriptedProvider } from '@sluice/testkit'
import { z } from 'zod'

/** What happened in a process: handlers that were entered, observers that were told. */
export interface Diary {
  note(line: string): void
}

const ask = (agent: string) =>
  defineTool({
    code: `ask_${agent}`,
    description: `Asks ${agent}.`,
    input: z.object({ question: z.string() }),
    effect: 'read',
    agent,
  })

const agentOf = (code: string, tools: readonly unknown[]) =>
  defineAgent({
    code,
    description: code,
    model: 'scripted/m',
    system: `I am ${code}.`,
    user: '{question}',
    tools: tools as never,
  })

/** Asks a human before anything is written; what was decided is obeyed. */
export function approval(diary: Diary): PluginInstance {
  return definePlugin({
    name: 'approval',
    hookApi: 1,
    apply(hooks, host) {
      hooks.beforeExecution.tap({ name: 'approval' }, () => void host.run?.state.update(() => ({ seen: 1 })))
      hooks.inspectToolInput.tap({ name: 'approval' }, (context) => {
        if (context.tool.effect === 'read') return
        const seen = (host.run?.state.get() as { seen: number } | undefined)?.seen
        diary.note(
          `asked ${context.toolCode} attempt ${context.attempt} state ${seen} ${context.decision?.decision ?? 'undecided'}`,
        )
        if (context.decision === undefined) throw new Pause('APPROVE', { details: context.args })
        if (context.decision.decision === 'deny') throw new Refusal('DENIED', context.decision.note ?? 'Denied.')
      })
      hooks.afterExecution.tap({ name: 'approval' }, (context) =>
        diary.note(`afterExecution ${context.status} recovered ${context.recovered}`),
      )
    },
  })()
}

/** A desk whose writing tool lies three runs deep, over a store; the model is a script. */
export async function deepDesk(store: Store, diary: Diary, script: readonly ScriptStep[]) {
  const note = defineTool({
    code: 'write_note',
    description: 'Writes a note.',
    input: z.object({ text: z.string() }),
    effect: 'write',
    handler: async ({ text }, tool) => {
      diary.note(
        `wrote ${text} as ${tool.idempotencyKey.slice(tool.rootExecutionId.length)} for ${String(tool.runContext.clerk)}`,
      )
      if (text === 'hang') await new Promise(() => setInterval(() => {}, 60_000))
      return `wrote ${text}`
    },
  })
  const look = defineTool({
    code: 'look',
    description: 'Looks.',
    input: z.object({}),
    effect: 'read',
    handler: () => {
      diary.note('looked')
      return 'seen'
    },
  })
  const provider = scriptedProvider(script)
  const runtime = await createRuntime({
    store,
    providers: [provider],
    plugins: [approval(diary)],
    agents: [
      agentOf('top', [ask('middle'), look]),
      agentOf('middle', [ask('bottom'), look]),
      agentOf('bottom', [note, look]),
    ],
  })
  return { runtime, provider }
}
