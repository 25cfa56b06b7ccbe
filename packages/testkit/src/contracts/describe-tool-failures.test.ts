import { describe, expect, it } from 'vitest'
import { describeToolFailures } from './describe-tool-failures.js'
import { tinyChatProvider } from './testing/tiny-chat-provider.js'
import { toolFailureRows } from './tool-failure-rows.js'

describeToolFailures('a provider with the row of openai-chat', () => tinyChatProvider())
describeToolFailures(
  'a provider with a row of its own',
  () => tinyChatProvider({ defaults: { onToolError: 'return', onToolLimit: 'finish' } }),
  {
    row: { onToolError: 'return', onToolLimit: 'finish' },
  },
)

describe('toolFailureRows', () => {
  it('T-15: finds a provider that says something else than its row', async () => {
    const rows = toolFailureRows(() => tinyChatProvider({ defaults: { onToolError: 'return', onToolLimit: 'finish' } }))
    const failed: string[] = []
    for (const row of rows) {
      await Promise.resolve(row.run()).catch(() => failed.push(row.title))
    }
    expect(failed).toEqual([
      'says of itself what its row says',
      'G-37: when a handler throws, the provider does what its row says',
      'G-33: at the bound of tool calls the provider does what its row says',
    ])
  })

  it('T-15: finds a provider that asks twice, and one that drops tool results', async () => {
    const twice = tinyChatProvider()
    const asksTwice = () => ({
      ...twice,
      generate: async (...args: Parameters<typeof twice.generate>) => {
        await twice.generate(...args).catch(() => undefined)
        return twice.generate(...args)
      },
    })
    const drops = () => ({
      ...twice,
      generate: (request: Parameters<typeof twice.generate>[0], signal: AbortSignal) =>
        twice.generate({ ...request, messages: request.messages.filter((message) => message.role !== 'tool') }, signal),
    })
    for (const make of [asksTwice, drops]) {
      const row = toolFailureRows(make).find((each) => each.title.startsWith('G-35'))
      await expect(Promise.resolve().then(() => row?.run())).rejects.toThrow()
    }
  })

  it('a protocol without a row has to be given one', async () => {
    const row = toolFailureRows(() => tinyChatProvider({ protocol: 'mine' }), {})[0]
    await expect(Promise.resolve().then(() => row?.run())).rejects.toThrow(/no row for the protocol mine/)
  })
})
