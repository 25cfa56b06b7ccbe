import { parseArgs } from 'node:util'
import type { Logger } from '@sluice/core'
import type { EffectAccount } from './account/account.js'
import { createPainter } from './account/painter.js'
import { writeAccount } from './account/write-account.js'
import { playScene } from './scenes/play-scene.js'
import type { ProviderChoice } from './scenes/provider-choice.js'
import { PROVIDER_CHOICES } from './scenes/provider-choice.js'
import type { Scene } from './scenes/scene.js'
import { SCENES } from './scenes/scenes.js'
import { playStory } from './stories/play-story.js'
import { STORIES } from './stories/stories.js'
import type { Story } from './stories/story.js'
import { endingsOf } from './stories/story-account.js'
import { writeStory } from './stories/write-story.js'

/** Where the example writes, and what it knows of its surroundings. */
export interface Surroundings {
  readonly print: (line: string) => void
  readonly printError: (line: string) => void
  readonly env: Readonly<Record<string, string | undefined>>
  readonly colour: boolean
}

const PROVIDERS = PROVIDER_CHOICES.map((choice) => choice.id)
const USUAL = PROVIDER_CHOICES.filter((choice) => choice.usual)

const USAGE = `Usage: npm start -- [--live] [--provider ${PROVIDERS.join('|')}] [--scene <code>] [--log]

  --live       asks the real providers whose key is set (${USUAL.flatMap((choice) => choice.keyVariables).join(', ')}); this costs money
  --provider   only this provider; without it ${USUAL.map((choice) => choice.id).join(' and ')} are played
  --scene      only this scene: ${[...SCENES, ...STORIES].map((scene) => scene.code).join(', ')}
  --log        also prints the log of the runtime on standard error, a line of JSON for each run that broke

Without --live the answers are replayed from fixtures: no key, no network.`

/** The accounts tell how each run ended; a line of JSON between them would only be in the way. */
const ignore = () => undefined
const SILENT: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

const OPTIONS = {
  live: { type: 'boolean', default: false },
  provider: { type: 'string' },
  scene: { type: 'string' },
  log: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

/** Plays the scenes and prints their accounts. Gives the exit code: 0, 1 where a replay ended otherwise, 2 for wrong usage. */
export async function runExample(args: readonly string[], around: Surroundings): Promise<number> {
  const startedAt = performance.now()
  let plan: Plan | undefined
  try {
    plan = readPlan(args, around)
  } catch (error) {
    around.printError(`ap-desk: ${error instanceof Error ? error.message : String(error)}`)
    around.printError(USAGE)
    return 2
  }
  if (plan === undefined) return 0
  const { print } = around
  const played: Played[] = []
  for (const choice of plan.choices) played.push(...(await playProvider(choice, plan, around)))
  const unexpected = played.filter((one) => !one.asExpected).length
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  for (const line of summary(played, unexpected, seconds, plan.live)) print(line)
  return unexpected > 0 && !plan.live ? 1 : 0
}

interface Plan {
  readonly live: boolean
  readonly log: boolean
  readonly scenes: readonly Scene[]
  readonly stories: readonly Story[]
  readonly choices: readonly ProviderChoice[]
}

/** Reads the arguments; `undefined` where only help was asked for. */
function readPlan(args: readonly string[], { print, env }: Surroundings): Plan | undefined {
  const { values } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: false })
  if (values.help) {
    print(USAGE)
    return undefined
  }
  const wanted = ({ code }: { readonly code: string }) => values.scene === undefined || code === values.scene
  const [scenes, stories] = [SCENES.filter(wanted), STORIES.filter(wanted)]
  if (scenes.length + stories.length === 0) throw new Error(`There is no scene "${values.scene}".`)
  const named =
    values.provider === undefined ? USUAL : PROVIDER_CHOICES.filter((choice) => choice.id === values.provider)
  if (named.length === 0) {
    throw new Error(`There is no provider "${values.provider}"; there are ${PROVIDERS.join(', ')}.`)
  }
  const { log } = values
  if (!values.live) return { live: false, log, scenes, stories, choices: named }

  const choices = named.filter(
    ({ keyVariables }) => keyVariables.length === 0 || keyVariables.some((name) => Boolean(env[name])),
  )
  const keys = named.flatMap((choice) => choice.keyVariables).join(' or ')
  if (choices.length === 0) throw new Error(`--live needs a key: set ${keys}, or leave --live out to replay.`)
  for (const { id, keyVariables } of named.filter((choice) => !choices.includes(choice))) {
    print(`${id} is left out: ${keyVariables.join(' or ')} is not set.\n`)
  }
  return { live: true, log, scenes, stories, choices }
}

/** What is counted of a scene or a story. */
interface Played {
  readonly asExpected: boolean
  readonly effects: readonly EffectAccount[]
  /** False where the provider refused: what is left would only meet the same. */
  readonly usable: boolean
}

async function playProvider(choice: ProviderChoice, plan: Plan, around: Surroundings): Promise<Played[]> {
  const { scenes, stories, live, log } = plan
  const { print, colour } = around
  const painter = createPainter(colour)
  const options = { live, ...(log ? {} : { logger: SILENT }) }
  const played: Played[] = []
  const how = live ? 'live: requests are sent and cost money' : 'replayed: no key, nothing is sent'
  print(painter.bold(`=== The accounts-payable desk on ${choice.id} (${choice.protocol}; ${how})\n`))
  const scenePlays = scenes.map((scene) => async (): Promise<Played> => {
    const account = await playScene(scene, choice, options)
    for (const line of writeAccount(account, SCENES.indexOf(scene) + 1, painter)) print(line)
    const { ending, effects, row } = account
    return { asExpected: ending.code === scene.expected, effects, usable: row?.failureKind !== 'provider' }
  })
  const storyPlays = stories.map((story) => async (): Promise<Played> => {
    const account = await playStory(story, choice, options)
    for (const line of writeStory(account, SCENES.length + STORIES.indexOf(story) + 1, painter)) print(line)
    const asExpected = endingsOf(account).join() === story.expected.join()
    return { asExpected, effects: account.effects, usable: !account.providerFailed }
  })
  const plays = [...scenePlays, ...storyPlays]
  for (const play of plays) {
    const one = await play()
    played.push(one)
    print('')
    if (live && !one.usable && played.length < plays.length) {
      print(`${choice.id} cannot be used like this; its other scenes are left out.\n`)
      break
    }
  }
  return played
}

function summary(played: readonly Played[], unexpected: number, seconds: string, live: boolean): readonly string[] {
  const effects = played.flatMap((one) => one.effects)
  const gates = effects.flatMap((effect) => effect.gates)
  const count = (answer: string) => gates.filter((gate) => gate.answer === answer).length
  // a call that a gate has stopped went nowhere
  const calls = effects.filter((effect) => effect.effect === 'model_call' && effect.sent !== 'no').length
  const ran = effects.filter((effect) => effect.effect === 'tool_call' && effect.sent === 'yes').length
  const as =
    unexpected === 0
      ? 'each ended as expected'
      : `${unexpected} ended otherwise than ${live ? 'in the replay' : 'expected'}`
  return [
    `${played.length} scene${played.length === 1 ? '' : 's'}, ${as}; ${calls} model calls, ` +
      `${ran} tools ran; gates: ${count('passed')} passed, ${count('vetoed')} vetoed, ${count('paused')} paused; ${seconds} s; ` +
      (live ? 'live' : 'replayed, nothing was sent'),
    ...(live
      ? []
      : ['Next: examples/ap-desk/README.md walks through the scenes; npm start -- --live asks a real model.']),
  ]
}
