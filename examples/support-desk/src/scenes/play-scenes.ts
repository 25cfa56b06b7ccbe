import { createMemoryStore, SluiceError } from '@sluice/core'
import { fakeClock, fakeIds, scriptedProvider } from '@sluice/testkit'
import { createOrderBook } from '../desk/orders.js'
import type { SupportDesk } from '../support-desk.js'
import { openSupportDesk } from '../support-desk.js'
import type { Asking, Scene } from './scenes.js'
import { ANSWERS } from './scripted-answers.js'

const START = Date.UTC(2026, 0, 5, 10)

/** How one scene ended. */
export interface Ending {
  /** `answered`, `topped-up`, or the code of the veto. */
  readonly code: string
  /** The answer, or why there is none. */
  readonly text: string
  /** Requests that were sent to the model. */
  readonly requests: number
}

/** A desk on a clock that stands still and a script for a model: the same in every run. */
export async function openScriptedDesk(answers: Parameters<typeof scriptedProvider>[0] = ANSWERS) {
  const clock = fakeClock({ now: START })
  const store = createMemoryStore({ clock })
  const provider = scriptedProvider(answers, { id: 'house' })
  const orders = new Map([
    [
      'acme',
      createOrderBook('ACME', [
        { order: 'A-100', status: 'shipped', carrier: 'Nordpost' },
        { order: 'A-101', status: 'delivered', carrier: 'Nordpost' },
      ]),
    ],
    [
      'globex',
      createOrderBook('GLOBEX', [
        { order: 'G-1', status: 'packed', carrier: 'Blitz' },
        { order: 'G-2', status: 'delivered', carrier: 'Blitz' },
        { order: 'G-3', status: 'shipped', carrier: 'Blitz' },
      ]),
    ],
  ])
  const desk = await openSupportDesk({ provider, store, orders, clock, ids: fakeIds() })
  return { desk, provider, clock, store, orders }
}

export type ScriptedDesk = Awaited<ReturnType<typeof openScriptedDesk>>

/** Plays one scene on a desk. A veto is an ending like any other and is not thrown. */
export async function playScene(scene: Scene, { desk, provider, clock }: ScriptedDesk): Promise<Ending> {
  if (scene.kind === 'top-up') {
    await desk.topUp(scene.tenant, scene.usd, scene.by)
    return {
      code: 'topped-up',
      text: `$${scene.usd} for ${scene.tenant} (${scene.by.key}, ${scene.by.who})`,
      requests: 0,
    }
  }
  clock.advance(scene.after ?? 0)
  const before = provider.calls.length
  const { code, text } = await clock.settle(ask(desk, scene))
  return { code, text, requests: provider.calls.length - before }
}

async function ask(desk: SupportDesk, { customer, question }: Asking): Promise<Omit<Ending, 'requests'>> {
  try {
    return { code: 'answered', text: await desk.ask(customer, question) }
  } catch (error) {
    if (!SluiceError.isInstance(error)) throw error
    return { code: error.code, text: error.message }
  }
}

/** What a scene should end with. */
export const expectedOf = (scene: Scene): string => (scene.kind === 'top-up' ? 'topped-up' : scene.expected)
