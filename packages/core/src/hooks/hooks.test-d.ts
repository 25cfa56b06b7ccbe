import { describe, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import type { JsonObject, JsonValue } from '../internal/json.js'
import type { Runtime } from '../runtime/runtime.js'
import type {
  AfterExecutionContext,
  BeforeExecutionContext,
  BeforeModelCallContext,
  BeforeToolCallContext,
  InspectToolInputContext,
  OnStopContext,
  PromptContext,
  WhileInFlightContext,
} from './hook-contexts.js'
import type { Hooks, NextPrompt } from './hook-types.js'
import { definePlugin, shadow } from './plugin.js'
import type { PluginHost, PluginInstance } from './plugin.js'
import { Stage } from './stage.js'

declare const hooks: Hooks
declare const runtime: Runtime

const passes = (): void => undefined
const passesLater = async (): Promise<void> => undefined
const says = (): boolean => false
const saysLater = async (): Promise<boolean> => false
const looks = (context: BeforeToolCallContext): void => void context.toolCode
const maybe = (): boolean | undefined => undefined
const sometimesLater = (): Promise<void> | undefined => undefined
const stops = (): never => {
  throw new Error('no')
}

describe('gates', () => {
  it('take functions declared elsewhere that give nothing, at once or later', () => {
    hooks.beforeToolCall.tap('x', passes)
    hooks.beforeToolCall.tap('x', passesLater)
    hooks.beforeToolCall.tap('x', looks)
    hooks.beforeToolCall.tap('x', stops)
    hooks.beforeToolCall.tapPromise('x', passesLater)
    hooks.beforeToolCall.tapAsync('x', (_context, callback) => callback())
    hooks.beforeToolCall.tap('x', () => {})
    hooks.beforeToolCall.tap('x', async () => {})
    hooks.beforeToolCall.tap('x', () => {
      throw new Error('no')
    })
  })

  it('refuse a function that gives a value, at once or later, also one declared elsewhere', () => {
    // @ts-expect-error a boolean is no answer
    hooks.beforeToolCall.tap('x', () => false)
    // @ts-expect-error nor is one that comes later
    hooks.beforeToolCall.tap('x', async () => false)
    // @ts-expect-error also where it is declared elsewhere
    hooks.beforeToolCall.tap('x', says)
    // @ts-expect-error and comes later
    hooks.beforeToolCall.tap('x', saysLater)
    // @ts-expect-error or only sometimes
    hooks.beforeToolCall.tap('x', maybe)
    // @ts-expect-error null is a value
    hooks.beforeToolCall.tap('x', () => null)
    // @ts-expect-error tapPromise wants a promise
    hooks.beforeToolCall.tapPromise('x', () => {})
    // @ts-expect-error of nothing
    hooks.beforeToolCall.tapPromise('x', async () => false)
    // @ts-expect-error tapAsync answers by its callback
    hooks.beforeToolCall.tapAsync('x', async (_context, callback) => callback())
    // @ts-expect-error and gives nothing itself
    hooks.beforeToolCall.tapAsync('x', () => false)
    // a gate that is asynchronous in some calls only
    hooks.beforeToolCall.tap('x', async () => sometimesLater())
  })

  it('refuse it at every gate point', () => {
    // @ts-expect-error beforeExecution
    hooks.beforeExecution.tap('x', says)
    // @ts-expect-error beforeModelCall
    hooks.beforeModelCall.tap('x', saysLater)
    // @ts-expect-error whileInFlight
    hooks.whileInFlight.tap('x', says)
    // @ts-expect-error inspectReply
    hooks.inspectReply.tap('x', saysLater)
    // @ts-expect-error inspectToolInput
    hooks.inspectToolInput.tap('x', says)
  })

  it('take a name, or name, stage, before and timeoutMs, and nothing else', () => {
    hooks.beforeToolCall.tap({ name: 'x', stage: Stage.policy, before: ['y'], timeoutMs: 100 }, passes)
    // @ts-expect-error no name
    hooks.beforeToolCall.tap({ stage: 1 }, passes)
    // @ts-expect-error not known
    hooks.beforeToolCall.tap({ name: 'x', failOpen: true }, passes)
    // @ts-expect-error not available
    void hooks.beforeToolCall.intercept
    // @ts-expect-error not available
    void hooks.beforeToolCall.promise
  })

  it('are told what their point is about', () => {
    hooks.beforeExecution.tap('x', (context) => void expectTypeOf(context).toEqualTypeOf<BeforeExecutionContext>())
    hooks.beforeModelCall.tap('x', (context) => void expectTypeOf(context).toEqualTypeOf<BeforeModelCallContext>())
    hooks.whileInFlight.tap('x', (context) => void expectTypeOf(context).toEqualTypeOf<WhileInFlightContext>())
    hooks.inspectToolInput.tap('x', (context) => {
      expectTypeOf(context.args).toEqualTypeOf<JsonObject>()
      expectTypeOf(context.decision?.decision).toEqualTypeOf<'approve' | 'deny' | undefined>()
    })
    hooks.beforeToolCall.tap('x', (context) => {
      // @ts-expect-error H-21: never the arguments
      void context.args
    })
    hooks.afterExecution.tap('x', (context) => void expectTypeOf(context).toEqualTypeOf<AfterExecutionContext>())
    hooks.onStop.tap('x', (context) => void expectTypeOf(context).toEqualTypeOf<OnStopContext>())
  })

  it('cannot change what they are told', () => {
    hooks.beforeToolCall.tap('x', (context) => {
      // @ts-expect-error read-only
      context.toolCode = 'other'
      // @ts-expect-error read-only further down
      context.tool.effect = 'read'
      // @ts-expect-error a list that cannot be extended
      context.labels.push({ kind: 'tool', source: 'x' })
    })
    hooks.inspectToolInput.tap('x', (context: InspectToolInputContext) => {
      // @ts-expect-error read-only
      context.args.invoice = 'INV-2'
    })
    hooks.beforeModelCall.tap('x', (context) => {
      // @ts-expect-error read-only
      context.maxOutputTokens = 1
    })
  })
})

describe('observers and the chain of prompts', () => {
  it('observers give nothing, at once or later', () => {
    hooks.onStop.tap('x', passes)
    hooks.onStop.tap('x', passesLater)
    hooks.afterToolCall.tapAsync('x', (_context, callback) => callback())
    // @ts-expect-error a value goes nowhere
    hooks.onStop.tap('x', says)
  })

  it('a prompt tap gives the next prompt or nothing', () => {
    hooks.augmentSystemPrompt.tap('x', (prompt, context) => {
      expectTypeOf(prompt).toEqualTypeOf<string | undefined>()
      expectTypeOf(context).toEqualTypeOf<PromptContext>()
      return `${prompt} More.`
    })
    hooks.augmentSystemPrompt.tap('x', () => undefined)
    hooks.augmentSystemPrompt.tap('x', async (): Promise<NextPrompt> => 'x')
    // @ts-expect-error no text
    hooks.augmentSystemPrompt.tap('x', () => 7)
    // @ts-expect-error null is no text
    hooks.augmentSystemPrompt.tap('x', () => null)
  })
})

describe('plugins', () => {
  const limit = definePlugin({
    name: 'limit',
    hookApi: 1,
    options: z.object({ most: z.number(), per: z.enum(['run', 'day']).default('run') }),
    apply(_hooks, host) {
      expectTypeOf(host.options).toEqualTypeOf<{ most: number; per: 'run' | 'day' }>()
      expectTypeOf(host.run?.state.get()).toEqualTypeOf<JsonValue | undefined>()
      return { api: { left: (key: string) => key.length } }
    },
  })

  it('are made with the options of their schema, before its defaults', () => {
    expectTypeOf(limit({ most: 3 })).toExtend<PluginInstance>()
    limit({ most: 3, per: 'day' }, { id: 'daily' })
    // @ts-expect-error an option is missing
    limit({})
    // @ts-expect-error options are wanted
    limit()
    // @ts-expect-error not one of them
    limit({ most: 3, per: 'week' })
    // @ts-expect-error not known
    limit({ most: 3, least: 1 })
  })

  it('need no options where all of them have a default, and take none without a schema', () => {
    const soft = definePlugin({
      name: 'soft',
      hookApi: 1,
      options: z.object({ most: z.number().default(1) }),
      apply() {},
    })
    soft()
    soft({ most: 2 })
    const plain = definePlugin({
      name: 'plain',
      hookApi: 1,
      apply(_hooks, host) {
        expectTypeOf(host).toEqualTypeOf<PluginHost<undefined>>()
      },
    })
    plain()
    plain(undefined, { id: 'x' })
    // @ts-expect-error it has no schema
    plain({ most: 1 })
  })

  it('give their api through runtime.plugin', () => {
    expectTypeOf(runtime.plugin(limit)).toEqualTypeOf<{ left: (key: string) => number }>()
    expectTypeOf(runtime.plugin(limit, 'daily').left('x')).toBeNumber()
    const later = definePlugin({
      name: 'later',
      hookApi: 1,
      async apply() {
        return { api: { ready: true }, dispose: async () => {} }
      },
    })
    expectTypeOf(runtime.plugin(later)).toEqualTypeOf<{ ready: boolean }>()
    const silent = definePlugin({ name: 'silent', hookApi: 1, apply() {} })
    expectTypeOf(runtime.plugin(silent)).toEqualTypeOf<undefined>()
  })

  it('can be shadowed, and stand in a list with falsy entries and lists', () => {
    void runtime.setHooks([
      limit({ most: 1 }),
      shadow(limit({ most: 1 })),
      false,
      null,
      [undefined, limit({ most: 2 }, { id: 'b' })],
    ])
    void runtime.setHooks(null)
    // @ts-expect-error the factory itself is no plugin
    void runtime.setHooks([limit])
    // @ts-expect-error nor is a promise of one
    void runtime.setHooks([Promise.resolve(limit({ most: 1 }))])
  })

  it('keep run state of JSON only', () => {
    definePlugin({
      name: 'state',
      hookApi: 1,
      apply(_hooks, host) {
        expectTypeOf(host.run?.state.update((current) => ({ count: current === undefined ? 0 : 1 }))).toEqualTypeOf<
          { count: number } | undefined
        >()
        // @ts-expect-error a date is no JSON
        host.run?.state.update(() => new Date())
        // @ts-expect-error nor is a promise of some
        host.run?.state.update(async () => 1)
      },
    })
  })
})
