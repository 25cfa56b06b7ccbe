import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Store } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { parseDuration } from './parse-duration.js'
import { createSwitchControl } from './switch-control.js'
import type { SwitchControl, SwitchStatus } from './switch-control.js'
import { MARKER_KEY } from './switch-row.js'
import type { SwitchTarget } from './switch-row.js'

/** What the program writes to. */
export interface ProgramOutput {
  out(text: string): void
  err(text: string): void
}

/** Options of every command. */
interface StoreOptions {
  readonly folder?: string
  readonly store?: string
  readonly id?: string
}

interface ChangeOptions extends StoreOptions {
  readonly all?: boolean
  readonly agent?: string
  readonly tool?: string
  readonly user?: string
  readonly tenant?: string
  readonly who?: string
  readonly reason: string
  readonly for?: number
}

const NAMESPACE = 'plugin:hooks-policy/kill-switch'
/** Exit codes: 0 done, 1 the store could not do it, 2 the command line is not acceptable. */
const DONE = 0
const FAILED = 1
const USAGE = 2

/**
 * The program behind `sluice-kill-switch`: sets and reads the switch of an application over its store, without loading any of
 * the application's code. `argv` is what stands behind the name of the program. Resolves with the exit code.
 */
export async function runSwitchProgram(argv: readonly string[], output: ProgramOutput): Promise<number> {
  const program = createProgram(output)
  try {
    await program.parseAsync([...argv], { from: 'user' })
    return DONE
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : USAGE
    output.err(`${messageOf(error)}\n`)
    return SluiceError.isInstance(error, 'INVALID_CONFIG') ? USAGE : FAILED
  }
}

function createProgram(output: ProgramOutput): Command {
  const program = new Command('sluice-kill-switch')
    .description('Stops agents at once, without touching the application: sets the rows that killSwitch() reads.')
    .exitOverride()
    .configureOutput({ writeOut: (text) => output.out(text), writeErr: (text) => output.err(text) })
  const withStore = (command: Command): Command =>
    command
      .option('--folder <path>', 'the folder store of the application, such as .sluice', once)
      .option('--store <module>', 'a module whose default export makes the store, for every other kind', once)
      .option('--id <id>', 'the id of the plugin, where the application gave it one', once)
  const withTarget = (command: Command): Command =>
    withStore(command)
      .option('--all', 'everything')
      .option('--agent <code>', 'one agent', once)
      .option('--tool <code>', 'one tool', once)
      .option('--user <name>', 'one user', once)
      .option('--tenant <name>', 'one tenant', once)
      .option('--who <name>', 'who does it (default: the user of this machine)', once)
      .requiredOption('--reason <text>', 'why', once)
  withTarget(program.command('on'))
    .description('switch something off limits')
    .option(
      '--for <time>',
      'until then it stands, such as 30m, 2h or 7d (default: until it is switched back)',
      duration,
    )
    .action((options: ChangeOptions) => change('on', options, output))
  withTarget(program.command('off'))
    .description('let something run again')
    .action((options: ChangeOptions) => change('off', options, output))
  withStore(program.command('status'))
    .description('show all rows')
    .action((options: StoreOptions) =>
      withControl(options, output, async (control) => {
        for (const row of await control.status()) output.out(`${lineOf(row)}\n`)
      }),
    )
  return program
}

async function change(action: 'on' | 'off', options: ChangeOptions, output: ProgramOutput): Promise<void> {
  const target = targetOf(options)
  const who = options.who ?? userInfo().username
  await withControl(options, output, async (control) => {
    const row =
      action === 'off'
        ? await control.off(target, { who, reason: options.reason })
        : await control.on(target, {
            who,
            reason: options.reason,
            ...(options.for === undefined ? {} : { expiresInMs: options.for }),
          })
    const [kind, name] = target === 'all' ? ['all', ''] : (Object.entries(target)[0] as [SwitchStatus['kind'], string])
    output.out(`${lineOf({ kind: kind as SwitchStatus['kind'], name, state: action, row })}\n`)
  })
}

function targetOf({ all, agent, tool, user, tenant }: ChangeOptions): SwitchTarget {
  const given = Object.entries({ agent, tool, user, tenant }).filter(([, name]) => name !== undefined)
  if (given.length + (all === true ? 1 : 0) !== 1)
    throw usage('Name what is meant, once: --all, --agent, --tool, --user or --tenant.')
  return all === true ? 'all' : (Object.fromEntries(given) as unknown as SwitchTarget)
}

/** Opens the store, works on the switch and closes the store, also where the work fails. */
async function withControl(
  options: StoreOptions,
  { err }: ProgramOutput,
  work: (control: SwitchControl) => Promise<void>,
): Promise<void> {
  const store = await openStore(options)
  const namespace = options.id === undefined ? NAMESPACE : `${NAMESPACE}#${options.id}`
  const documents = store.documents(namespace)
  try {
    const known = (await documents.get(MARKER_KEY)) !== undefined
    await work(createSwitchControl(documents, store.log(namespace)))
    if (!known) err(`Note: no application with killSwitch() has started on this store yet (${namespace}).\n`)
  } finally {
    await store.close()
  }
}

async function openStore({ folder, store }: StoreOptions): Promise<Store> {
  if ((folder === undefined) === (store === undefined)) throw usage('Name the store, once: --folder or --store.')
  if (folder !== undefined) {
    // a folder that is misspelt would be made, and stop nothing
    if (!existsSync(folder)) throw usage(`There is no folder ${escaped(folder)}.`)
    const { createLowdbStore } = await import('@sluice/core/store/lowdb')
    return createLowdbStore({ folder: resolve(folder) })
  }
  const module = (await import(pathToFileURL(resolve(store as string)).href)) as { readonly default?: unknown }
  if (typeof module.default !== 'function')
    throw usage(`The default export of ${store} is no function that makes a store.`)
  return (await (module.default as () => Store | Promise<Store>)()) as Store
}

/** What is named twice is not guessed at: the first would be dropped. */
function once(text: string, before: string | undefined): string {
  if (before !== undefined) throw new InvalidArgumentError('It is there twice; run the program once for each.')
  return text
}

function duration(text: string, before: number | undefined): number {
  if (before !== undefined) throw new InvalidArgumentError('It is there twice.')
  const ms = parseDuration(text)
  if (ms === undefined) throw new InvalidArgumentError('Write a whole number and s, m, h or d, such as 2h.')
  return ms
}

/** One row as one line: whatever the texts hold, they stand in it as JSON. */
function lineOf({ kind, name, state, row }: SwitchStatus): string {
  const parts = [state, kind === 'all' ? 'all' : `${kind}=${escaped(name)}`]
  if (row !== null) {
    parts.push(`by=${escaped(row.who)}`, `reason=${escaped(row.reason)}`, `at=${timeOf(row.at)}`)
    if (row.expiresAt !== null) parts.push(`until=${timeOf(row.expiresAt)}`)
  }
  return parts.join(' ')
}

/** JSON text in which every character that could move a terminal's cursor or fake a line is escaped. */
function escaped(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function timeOf(at: number): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? String(at) : date.toISOString()
}

function usage(message: string): SluiceError {
  return new SluiceError('INVALID_CONFIG', message, { reason: 'kill_switch.command' })
}

function messageOf(error: unknown): string {
  if (SluiceError.isInstance(error, 'STORE_LOCKED'))
    return `${error.message}\nA folder store is open in one process at a time: set the switch inside it, with runtime.plugin(killSwitch).on(...), or stop it.`
  return error instanceof Error ? error.message : String(error)
}
