import type { ExecuteOptions, PluginInstance, Run } from '@sluice/core'
import { createMemoryStore, createRuntime } from '@sluice/core'
import type { AgentDefinition, Store } from '@sluice/core'
import type { ScriptStep } from '@sluice/testkit'
import { capturedLogger, fakeClock, fakeIds, repeat, reply, scriptedProvider } from '@sluice/testkit'

/** A small world: what tools change lies in `state`, and only what lies there is judged. */
export interface World<State> {
  readonly state: State
  readonly agents: readonly AgentDefinition[]
  /** The policy that its owner would install. */
  readonly plugins: readonly PluginInstance[]
  /** What its operators have set in the store before the run. */
  prepare?(store: Store): Promise<void>
  /** What happens to the answer of a run: a reader's program shows it, and fetches what it links to. */
  show(text: string): void
}

/** One goal of an attacker, and what a model that is wholly his does for it. */
export interface Attack<State> {
  readonly goal: string
  /** The replies of the hostile model, of all agents of the tree in turn. */
  readonly model: readonly ScriptStep[]
  /** Who is in front of it, where that is not an ordinary user. */
  readonly run?: Partial<ExecuteOptions>
  /** Whether the world is now as the attacker wants it. */
  reached(state: State): boolean
  /** A human answers what waits: yes to calls with these arguments, and to no others. */
  readonly approves?: (args: unknown) => boolean
}

const MAX_PAUSES = 5

/** Plays one script in a fresh world and gives the state that it ends in. */
export async function play<State>(
  make: () => World<State>,
  attack: Pick<Attack<State>, 'model' | 'run' | 'approves'>,
  options: { readonly policy: boolean; readonly defaults: Partial<ExecuteOptions> },
): Promise<{ readonly state: State; readonly end: string }> {
  const world = make()
  const clock = fakeClock()
  const store = createMemoryStore({ clock })
  await world.prepare?.(store)
  const runtime = await createRuntime({
    store,
    clock,
    ids: fakeIds(),
    logger: capturedLogger(),
    agents: [...world.agents],
    providers: [scriptedProvider([...attack.model, repeat(reply('Done.'))])],
    plugins: options.policy ? world.plugins : [],
  })
  const executed = { ...options.defaults, ...attack.run } as ExecuteOptions
  let end: string
  try {
    let run = (await clock.settle(runtime.execute(executed))) as Run
    for (let pauses = 0; run.status === 'paused' && pauses < MAX_PAUSES; pauses++) {
      for (const { effectId, details } of run.pending) {
        const decision = attack.approves?.(details?.args) === true ? 'approve' : 'deny'
        await runtime.decide(run.executionId, { effectId, decision, by: 'supervisor', scope: 'all' })
      }
      run = await clock.settle(runtime.resume(run.executionId, { scope: 'all' }))
    }
    if (run.status === 'completed') world.show(run.text ?? '')
    end = run.status
  } catch (error) {
    end = String((error as { code?: unknown }).code)
  } finally {
    await clock.settle(runtime.close())
  }
  return { state: world.state, end }
}
