import type { NextPrompt, PluginInstance, PromptContext } from '@sluice/core'
import { shadow } from '@sluice/core'
import { reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import type { RigOptions } from './support/rig.js'
import { desk, notes, plugin, rig, watcher } from './support/rig.js'

type Augment = (prompt: string | undefined, context: PromptContext) => NextPrompt | Promise<NextPrompt>
const augments = (augment: Augment, name = 'augments', stage?: number) =>
  plugin(name, (hooks) => hooks.augmentSystemPrompt.tap(stage === undefined ? 'x' : { name: 'x', stage }, augment))

/** The system prompt that was sent, for these plugins. */
async function sent(plugins: readonly PluginInstance[], options: RigOptions = {}) {
  const given = await rig(['Done.'], { plugins, ...options })
  expect((await given.run()).run?.status).toBe('completed')
  const system = given.provider.requests[0]?.messages.find(({ role }) => role === 'system')
  return { ...given, system: system?.content }
}

describe('H-22, T-26: augmentSystemPrompt', () => {
  it('appends, rewrites, and leaves unchanged what it returns nothing for', async () => {
    expect((await sent([augments((prompt) => `${prompt} Be brief.`)])).system).toBe('You are a desk. Be brief.')
    expect((await sent([augments(() => 'You are a clerk.')])).system).toBe('You are a clerk.')
    expect((await sent([augments(() => undefined)])).system).toBe('You are a desk.')
  })

  it('supplies a prompt where the profile has none', async () => {
    let given: string | undefined = 'not asked'
    const { system } = await sent([augments((prompt) => ((given = prompt), 'You are a clerk.'))], {
      agents: [desk([], { system: undefined })],
    })
    expect([given, system]).toEqual([undefined, 'You are a clerk.'])
  })

  it('an empty text is a prompt too', async () => {
    const { provider } = await sent([augments(() => '')])
    const system = provider.requests[0]?.messages.filter(({ role }) => role === 'system')
    expect(system?.map(({ content }) => content).join('')).toBe('')
  })

  it('H-32: is a chain: taps one after another by stage, each with the prompt of the last, whatever the way of tapping', async () => {
    const order: string[] = []
    const chain = plugin('chain', (hooks) => {
      const add = (word: string) => (prompt: string | undefined) => (order.push(word), `${prompt} ${word}`)
      hooks.augmentSystemPrompt.tap({ name: 'last', stage: 100 }, add('last'))
      hooks.augmentSystemPrompt.tapPromise({ name: 'middle' }, async (prompt) => add('middle')(prompt))
      hooks.augmentSystemPrompt.tapAsync({ name: 'first', stage: -1 }, (prompt, _context, callback) =>
        callback(null, add('first')(prompt)),
      )
    })
    expect((await sent([chain])).system).toBe('You are a desk. first middle last')
    expect(order).toEqual(['first', 'middle', 'last'])
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('a bug')
      },
    ],
    ['rejects', () => Promise.reject(new Error('a bug'))],
    [
      'throws undefined',
      () => {
        throw undefined
      },
    ],
    ['returns a number', () => 7 as never],
    ['returns null', () => null as never],
    ['gives an object', () => Promise.resolve({ prompt: 'x' }) as never],
  ])(
    'H-25: a tap that %s changes nothing, is logged and counted, and the chain goes on with the prompt before it',
    async (_what, augment) => {
      const { system, runtime } = await sent([
        augments((prompt) => `${prompt} One.`, 'one'),
        augments(augment as Augment, 'broken'),
        augments((prompt) => `${prompt} Two.`, 'two'),
      ])
      expect(system).toBe('You are a desk. One. Two.')
      expect(runtime.health().observers).toMatchObject({
        errors: 1,
        lastError: { source: 'broken', point: 'augmentSystemPrompt' },
      })
    },
  )

  it('H-25: each tap has a deadline of its own; what comes late is dropped, and its signal has fired', async () => {
    let aborted = false
    const late = augments((_prompt, { signal }) => {
      signal.addEventListener('abort', () => {
        aborted = true
      })
      return new Promise(() => {})
    }, 'late')
    const { system, clock, runtime } = await sent([late, augments((prompt) => `${prompt} Two.`, 'two')], {
      timeouts: { observerTimeoutMs: 250 },
    })
    expect([system, aborted, clock.monotonic()]).toEqual(['You are a desk. Two.', true, 250])
    expect(runtime.health().observers.late).toBe(1)
  })

  it('a tap that keeps the thread beyond its deadline is late too', async () => {
    const given = await rig(['Done.'], {
      plugins: [augments(() => (given.clock.block(9_000), 'too late'))],
      timeouts: { observerTimeoutMs: 250 },
    })
    await given.run()
    expect(given.provider.requests[0]?.messages[0]?.content).toBe('You are a desk.')
  })

  it('H-24: is asked on the first turn and not on a follow-up, where the stored prompt is used', async () => {
    let asked = 0
    const given = await rig(['one', 'two', 'three'], { plugins: [augments((prompt) => `${prompt} Turn ${++asked}.`)] })
    await given.run({ sessionId: 's-1' })
    await given.run({ sessionId: 's-1', followUp: 'And?' })
    expect(asked).toBe(1)
    expect(given.provider.requests.map(({ messages }) => messages[0]?.content)).toEqual([
      'You are a desk. Turn 1.',
      'You are a desk. Turn 1.',
    ])
    await given.run({ sessionId: 's-1' })
    expect(asked).toBe(2)
  })

  it('H-24: is asked for nested agents and for a profile that is executed directly, not for a raw system prompt', async () => {
    const told: (string | null)[] = []
    const { tool } = notes({ handler: async () => (await given.runtime.execute({ agent: 'below' })).text })
    const given = await rig([reply.toolCall('write_note'), 'below', 'Done.', 'profile', 'raw'], {
      agents: [desk([tool]), desk([], { code: 'below' })],
      prompts: [],
      plugins: [augments((_prompt, { agentCode }) => void told.push(agentCode))],
    })
    await given.run()
    await given.runtime.generateText({ model: 'scripted/m', system: 'Raw.', prompt: 'x' })
    expect(told).toEqual(['desk', 'below'])
    await given.runtime.generateText({ model: 'scripted/m', prompt: 'x' })
    expect(told).toHaveLength(2)
  })

  it('its context is frozen and names where it stands', async () => {
    let seen: PromptContext | undefined
    await sent([
      augments((_prompt, context) => {
        seen = context
      }),
    ])
    expect(Object.isFrozen(seen)).toBe(true)
    expect(seen).toMatchObject({ agentCode: 'desk', depth: 0, executionId: expect.any(String), createdBy: null })
  })

  it('a shadowed one changes nothing', async () => {
    expect((await sent([shadow(augments(() => 'changed'))])).system).toBe('You are a desk.')
  })

  it('hears of a stop while it is waited for', async () => {
    const controller = new AbortController()
    const seen = watcher()
    const given = await rig([], { plugins: [augments(() => (controller.abort(), new Promise(() => {}))), seen.plugin] })
    expect((await given.run({ signal: controller.signal })).code).toBe('RUN_ABORTED')
    expect(given.clock.monotonic()).toBe(0)
  })
})
