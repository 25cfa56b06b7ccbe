// Runs a desk over the store of a folder and says what happened, one line each: `pause` ends with a paused run, `hang` stays
// in a handler until it is killed.
import { writeSync } from 'node:fs'
import { createLowdbStore } from '@sluice/core/store/lowdb'
import { reply } from '@sluice/testkit'
import { deepDesk } from './support/deep-desk.js'

const [mode = '', folder = ''] = process.argv.slice(2)
const say = (line: string) => writeSync(1, `${line}\n`)

const down = [
  reply.toolCall('look').toolCall('ask_middle', { question: '1' }),
  reply.toolCall('look').toolCall('ask_bottom', { question: '2' }),
]
const scripts = {
  pause: [...down, reply.toolCall('look').toolCall('write_note', { text: 'a' }).toolCall('write_note', { text: 'b' })],
  hang: [
    reply('earlier'),
    reply.toolCall('look').toolCall('ask_middle', { question: '1' }),
    reply.toolCall('ask_bottom', { question: '2' }),
    reply.toolCall('look'),
    reply.toolCall('look'),
  ],
}

const store = await createLowdbStore({ folder })
const { runtime } = await deepDesk(store, { note: say }, scripts[mode as keyof typeof scripts])
const caller = { user: 'petra.k', tenant: 'acme', audience: 'authenticated', host: 'client-7' } as const
const given = {
  agent: 'top',
  input: { question: 'go' },
  sessionId: 's-1',
  runContext: { clerk: 'petra.k' },
  caller,
} as const
if (mode === 'pause') {
  const run = await runtime.execute(given)
  say(
    `run ${run.executionId} ${run.status} ${JSON.stringify(run.pending.map((one) => [one.agentCode, one.toolCode, one.details]))}`,
  )
  await runtime.close()
  await store.close()
} else {
  await runtime.execute({ ...given, agent: 'bottom' })
  runtime.events.set((event) => {
    // the second look is recorded when the third request of the deepest run would go out
    if (event.type === 'tool_result' && event.agentCode === 'bottom') say(`result ${event.seq}`)
  })
  await runtime.execute({ ...given }).catch((error: unknown) => say(`failed ${String(error)}`))
}
