import { formatUsd } from '@sluice/hooks-budget'
import { planOf } from './desk/plans.js'
import type { Ending, ScriptedDesk } from './scenes/play-scenes.js'
import { expectedOf, openScriptedDesk, playScene } from './scenes/play-scenes.js'
import type { Scene } from './scenes/scenes.js'
import { SCENES } from './scenes/scenes.js'

/** Plays scenes on one desk and prints them. Gives the exit code: 0, or 1 where something ended otherwise than it should. */
export async function runExample(print: (line: string) => void, scenes: readonly Scene[] = SCENES): Promise<number> {
  print('=== The support desk of two tenants (a scripted model: no key, nothing is sent)\n')
  const scripted = await openScriptedDesk()
  let unexpected = 0
  try {
    for (const [index, scene] of scenes.entries()) {
      const ending = await playScene(scene, scripted)
      if (ending.code !== expectedOf(scene)) unexpected++
      for (const line of account(scene, ending, index + 1)) print(line)
      print('')
    }
    for (const tenant of ['acme', 'globex']) {
      const { lines, ok } = await month(tenant, scripted)
      if (!ok) unexpected++
      for (const line of lines) print(line)
    }
  } finally {
    await scripted.desk.close()
    await scripted.store.close()
  }
  const as = unexpected === 0 ? 'each ended as expected' : `${unexpected} ended otherwise than expected`
  print(`\n${scenes.length} scenes, ${as}; ${scripted.provider.calls.length} requests, none left this machine`)
  return unexpected === 0 ? 0 : 1
}

const LABEL = 11
const WIDTH = 104

/** A label and a text, on as many lines as it takes. */
function row(label: string, text: string): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || last.length + word.length >= WIDTH) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines.map((line, index) => `   ${(index === 0 ? label : '').padEnd(LABEL)}${line}`)
}

function account(scene: Scene, { code, text, requests }: Ending, number: number): readonly string[] {
  const head = `${number}. ${scene.title}`
  if (scene.kind === 'top-up') return [head, ...row('adds', text)]
  const { customer, question } = scene
  const sent = requests === 0 ? 'nothing was sent' : `${requests} requests`
  return [
    head,
    ...row('who', `${customer.user} of ${customer.tenant} (${planOf(customer.tenant)})`),
    ...row('asks', question),
    ...row('ended', `${code}; ${sent}`),
    ...row('', text),
  ]
}

/** What a tenant has spent, and whether its log is what was written. */
async function month(tenant: string, { desk }: ScriptedDesk) {
  const [{ spent, amount, left }, report] = [await desk.spent(tenant), await desk.verify(tenant)]
  const usd = (nano: bigint): string => `$${formatUsd(nano)}`
  return {
    ok: report.ok,
    lines: [
      `${tenant.padEnd(8)} spent ${usd(spent)} of ${usd(amount)} this month, ${usd(left)} left; ` +
        `log of ${report.size} entries: ${report.ok ? 'verified' : 'BROKEN'}`,
    ],
  }
}
