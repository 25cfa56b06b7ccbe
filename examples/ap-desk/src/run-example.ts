import { parseArgs } from 'node:util'
import type { Logger } from '@sluice/core'
import type { Account } from './account/account.js'
import { createPainter } from './account/painter.js'
import { writeAccount } from './account/write-account.js'
import { playScene } from './scenes/play-scene.js'
import type { ProviderChoice } from './scenes/provider-choice.js'
import { PROVIDER_CHOICES } from './scenes/provider-choice.js'
import type { Scene } from './scenes/scene.js'
import { SCENES } from './scenes/scenes.js'

/** Where the example writes, and what it knows of its surroundings. */
export interface Surroundings {
  readonly print: (line: string) => void
  readonly printError: (line: string) => void
  readonly env: Readonly<Record<string, string | undefined>>
  readonly colour: boolean
}

const USAGE = `Usage: npm start -- [--live] [--provider openai|anthropic] [--scene <code>] [--log]

  --live       asks the real providers whose key is set (OPENAI_API_KEY, ANTHROPIC_API_KEY); this costs money
  --provider   only this provider
  --scene      only this scene: ${SCENES.map((scene) => scene.code).join(', ')}
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
  const accounts: Account[] = []
  for (const choice of plan.choices) accounts.push(...(await playProvider(choice, plan, around)))
  const unexpected = accounts.filter((account) => account.ending.code !== account.scene.expected).length
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  for (const line of summary(accounts, unexpected, seconds, plan.live)) print(line)
  return unexpected > 0 && !plan.live ? 1 : 0
}

interface Plan {
  readonly live: boolean
  readonly log: boolean
  readonly scenes: readonly Scene[]
  readonly choices: readonly ProviderChoice[]
}

/** Reads the arguments; `undefined` where only help was asked for. */
function readPlan(args: readonly string[], { print, env }: Surroundings): Plan | undefined {
  const { values } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: false })
  if (values.help) {
    print(USAGE)
    return undefined
  }
  const scenes = SCENES.filter((scene) => values.scene === undefined || scene.code === values.scene)
  if (scenes.length === 0) throw new Error(`There is no scene "${values.scene}".`)
  const named = PROVIDER_CHOICES.filter((choice) => values.provider === undefined || choice.id === values.provider)
  if (named.length === 0) throw new Error(`There is no provider "${values.provider}".`)
  const { log } = values
  if (!values.live) return { live: false, log, scenes, choices: named }

  const choices = named.filter((choice) => Boolean(env[choice.keyVariable]))
  const keys = named.map((choice) => choice.keyVariable).join(' or ')
  if (choices.length === 0) throw new Error(`--live needs a key: set ${keys}, or leave --live out to replay.`)
  for (const { id, keyVariable } of named.filter((choice) => !choices.includes(choice))) {
    print(`${id} is left out: ${keyVariable} is not set.\n`)
  }
  return { live: true, log, scenes, choices }
}

async function playProvider(
  choice: ProviderChoice,
  { scenes, live, log }: Plan,
  around: Surroundings,
): Promise<Account[]> {
  const { print, colour } = around
  const painter = createPainter(colour)
  const accounts: Account[] = []
  const how = live ? 'live: requests are sent and cost money' : 'replayed: no key, nothing is sent'
  print(painter.bold(`=== The accounts-payable desk on ${choice.id} (${choice.protocol}; ${how})\n`))
  for (const scene of scenes) {
    const account = await playScene(scene, choice, { live, ...(log ? {} : { logger: SILENT }) })
    accounts.push(account)
    for (const line of writeAccount(account, SCENES.indexOf(scene) + 1, painter)) print(line)
    print('')
    if (live && account.row?.failureKind === 'provider' && accounts.length < scenes.length) {
      print(`${choice.id} cannot be used like this; its other scenes are left out.\n`)
      break
    }
  }
  return accounts
}

function summary(accounts: readonly Account[], unexpected: number, seconds: string, live: boolean): readonly string[] {
  const effects = accounts.flatMap((account) => account.effects)
  const gates = effects.flatMap((effect) => effect.gates)
  const count = (answer: string) => gates.filter((gate) => gate.answer === answer).length
  const ran = effects.filter((effect) => effect.effect === 'tool_call' && effect.sent === 'yes').length
  const as =
    unexpected === 0
      ? 'each ended as expected'
      : `${unexpected} ended otherwise than ${live ? 'in the replay' : 'expected'}`
  return [
    `${accounts.length} scene${accounts.length === 1 ? '' : 's'}, ${as}; ${effects.filter((effect) => effect.effect === 'model_call').length} model calls, ` +
      `${ran} tools ran; gates: ${count('passed')} passed, ${count('vetoed')} vetoed, ${count('paused')} paused; ${seconds} s; ` +
      (live ? 'live' : 'replayed, nothing was sent'),
    ...(live
      ? []
      : ['Next: examples/ap-desk/README.md walks through the scenes; npm start -- --live asks a real model.']),
  ]
}
