import type { Hooks, PluginInstance } from '@sluice/core'
import { definePlugin, shadow } from '@sluice/core'
import type { FakeClock } from '@sluice/testkit'
import { tapFunction } from './actor.js'
import type { Composition, Watching } from './composition.js'
import { TIMES } from './composition.js'
import type { Playing } from './playing.js'
import { draw, pathOf } from './playing.js'

/** The plugin at this place of the composition: its gates do what they draw, its observers note what they see. */
export function pluginOf(playing: Playing, place: number): PluginInstance {
  const shape = playing.shape.plugins[place] as Composition['plugins'][number]
  const plugin = definePlugin({
    name: `p${place}`,
    hookApi: 1,
    apply(hooks) {
      for (const [number, gate] of shape.gates.entries()) {
        const id = `p${place}.${number}`
        const fn = tapFunction(gate.via, gate.timeoutMs, playing.around, (context) => {
          const { effectId, rootExecutionId } = context as { effectId: string; rootExecutionId: string }
          playing.root = rootExecutionId
          playing.asked.push(`${pathOf(playing, effectId)} ${gate.point} ${id}`)
          return draw(playing, id, gate.acts)
        })
        // on purpose past the types, which refuse most of what is tapped here
        const hook = hooks[gate.point] as unknown as Record<typeof gate.via, (options: object, fn: unknown) => void>
        hook[gate.via]({ name: id, stage: gate.stage, timeoutMs: gate.timeoutMs }, fn)
      }
      watch(playing, place, hooks, shape.watching)
    },
  })()
  return shape.shadow ? shadow(plugin) : plugin
}

/** Observers at every closing point; each notes what it saw before it behaves as it does. */
function watch(playing: Playing, place: number, hooks: Hooks, watching: Watching): void {
  const note = (list: readonly string[][], line: string) => (list[place] as string[]).push(line)
  const closing = (context: {
    effectId: string
    attempt: number
    outcome: string
    sent: string
    rootExecutionId: string
  }) => {
    playing.root = context.rootExecutionId
    const late = (playing.after[place] as string[]).length > 0 ? ' after the end of the run' : ''
    note(
      playing.closings,
      `${pathOf(playing, context.effectId)}#${context.attempt} ${context.outcome} ${context.sent}${late}`,
    )
  }
  const tap = (
    point: 'afterModelCall' | 'afterToolCall' | 'afterExecution' | 'onStop',
    see: (context: never) => void,
  ) => {
    const behave = observerFunction(watching, playing.around.clock)
    const hook = hooks[point] as unknown as Record<'tap' | 'tapAsync', (name: string, fn: unknown) => void>
    if (watching === 'calls-back-twice') {
      hook.tapAsync('watch', (context: never, callback: () => void) => {
        see(context)
        callback()
        callback()
      })
      return
    }
    hook.tap('watch', (context: never) => {
      see(context)
      return behave()
    })
  }
  tap('afterModelCall', closing as never)
  tap('afterToolCall', closing as never)
  tap('afterExecution', ((context: { status: string }) => note(playing.after, context.status)) as never)
  tap('onStop', ((context: {
    point: string
    plugin: string | null
    answer: string
    code: string
    rootExecutionId: string
  }) => {
    playing.root = context.rootExecutionId
    const plugin = context.plugin?.startsWith('tool:') === true ? context.plugin.slice(0, 7) : context.plugin
    note(playing.stops, `${context.point} ${plugin} ${context.answer} ${context.code}`)
  }) as never)
}

function observerFunction(watching: Watching, clock: FakeClock): () => unknown {
  switch (watching) {
    case 'throws':
      return () => {
        throw new Error('an observer with a bug')
      }
    case 'rejects':
      return () => Promise.reject(new Error('an observer that rejects'))
    case 'hangs':
      return () => new Promise(() => {})
    case 'slowly':
      return () => new Promise<void>((resolve) => void clock.setTimeout(resolve, TIMES.slowObserverMs))
    case 'gives-false':
      return () => false
    default:
      return () => undefined
  }
}
