import { definePlugin, Stage } from '@sluice/core'
import type { GateHook, HookPoint, Hooks, ObserverHook, PluginInstance } from '@sluice/core'

export type TapKind = 'sync' | 'async'

const STAGES = [Stage.identity, Stage.policy, Stage.limit, Stage.reserve, Stage.record]
/** What the taps of all plugins have seen: keeps them from being empty functions. */
export const seen = { taps: 0, nested: 0 }

type Point = GateHook<{ readonly depth: number }> | ObserverHook<{ readonly depth?: number }>

/** `count` plugins, each with one tap at every hook point there is. */
export function pluginsTappingAll(count: number, kind: TapKind): PluginInstance[] {
  return Array.from({ length: count }, (_, index) => pluginTappingAll(index, kind))
}

function pluginTappingAll(index: number, kind: TapKind): PluginInstance {
  const stage = STAGES[index % STAGES.length] as number
  return definePlugin({
    name: `bench-plugin-${index}`,
    hookApi: 1,
    apply(hooks: Hooks) {
      // functions of its own, as each plugin has
      const touch = ({ depth }: { readonly depth?: number }): void => note(depth)
      const touchLater = async ({ depth }: { readonly depth?: number }): Promise<void> => note(depth)
      for (const name of Object.keys(hooks) as HookPoint[]) {
        if (name === 'augmentSystemPrompt') {
          if (kind === 'sync') hooks.augmentSystemPrompt.tap('bench', (_prompt, context) => touch(context))
          else hooks.augmentSystemPrompt.tapPromise('bench', (_prompt, context) => touchLater(context))
          continue
        }
        const point = hooks[name] as unknown as Point
        if (kind === 'sync') point.tap({ name: 'bench', stage }, touch)
        else point.tapPromise({ name: 'bench', stage }, touchLater)
      }
    },
  })()
}

function note(depth: number | undefined): void {
  seen.taps += 1
  if (depth !== undefined && depth > 0) seen.nested += 1
}
