import { createMemoryStore, createRuntime, definePlugin, USAGE_NOT_REPORTED } from '@sluice/core'
import type { ModelProvider, PluginInstance, Runtime } from '@sluice/core'
import type { Figure } from '../measure/figure.js'
import { plainFigure } from '../measure/figure.js'
import { interleave } from '../measure/interleave.js'
import type { Side } from '../measure/interleave.js'
import { floorHasContext } from '../subjects/raw-loop.js'
import type { SuiteOptions } from './suite-options.js'

const CALLS_A_SLICE = 2_000

/**
 * Nanoseconds that asking one gate point with five taps adds to a model call, receipt and deadline included: plain calls of a
 * provider that answers at once, with and without the taps, in turn.
 */
export async function dispatchSuite(options: SuiteOptions): Promise<Figure[]> {
  const wanted = (['sync', 'async'] as const).filter((kind) => options.wants(`dispatch/5-${kind}`))
  if (wanted.length === 0) return []
  options.progress('dispatch')
  const bare = await runtimeWith([])
  const sides: Side[] = [{ name: 'none', slice: () => nanosecondsOf(bare) }]
  for (const kind of wanted) {
    const runtime = await runtimeWith(tappers(kind))
    sides.push({ name: kind, slice: () => nanosecondsOf(runtime) })
  }
  const collect = (): void => globalThis.gc?.({ type: 'minor' })
  await interleave(sides, options.warmUps, collect)
  const samples = await interleave(sides, options.slices, collect)
  const none = samples.get('none') as readonly number[]
  return wanted.map((kind) => {
    const differences = (samples.get(kind) as readonly number[]).map((value, slice) => value - (none[slice] as number))
    return plainFigure(
      `dispatch/5-${kind}`,
      'ns a gate point',
      differences,
      kind === 'sync' ? 600 : floorHasContext ? 4_000 : 2_500,
    )
  })
}

function tappers(kind: 'sync' | 'async'): PluginInstance[] {
  return Array.from({ length: 5 }, (_, index) =>
    definePlugin({
      name: `tap-${index}`,
      hookApi: 1,
      apply(hooks) {
        if (kind === 'sync') hooks.beforeModelCall.tap('bench', () => undefined)
        else hooks.beforeModelCall.tapPromise('bench', async () => undefined)
      },
    })(),
  )
}

const instant: ModelProvider = {
  id: 'instant',
  protocol: 'instant',
  defaults: { onToolError: 'throw', onToolLimit: 'throw' },
  generate: async () => ({ parts: [{ type: 'text', text: 'ok' }], finishReason: 'stop', usage: USAGE_NOT_REPORTED }),
  async *stream() {
    yield { type: 'reply', reply: { parts: [], finishReason: 'stop', usage: USAGE_NOT_REPORTED } }
  },
}

function runtimeWith(plugins: readonly PluginInstance[]): Promise<Runtime> {
  const nothing = (): void => undefined
  return createRuntime({
    store: createMemoryStore(),
    providers: [instant],
    plugins,
    logger: { debug: nothing, info: nothing, warn: nothing, error: nothing },
  })
}

async function nanosecondsOf(runtime: Runtime): Promise<number> {
  const before = process.hrtime.bigint()
  for (let call = 0; call < CALLS_A_SLICE; call++) await runtime.generateText({ model: 'instant/m', prompt: 'go' })
  return Number(process.hrtime.bigint() - before) / CALLS_A_SLICE
}
