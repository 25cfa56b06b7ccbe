import type { GateReceipt, Usage } from '@sluice/core'
import { totalInput } from '@sluice/core'
import type { Verification } from '@sluice/hooks-audit'
import type { LimitStatus } from '@sluice/hooks-budget'
import { formatUsd } from '@sluice/hooks-budget'
import { GUARD_NAMES } from '../gates/guards.js'
import type { Account, EffectAccount, Note, ToolAccount } from './account.js'
import { oneLine } from './one-line.js'
import type { Painter } from './painter.js'

/** Characters of a line, of the label in front of it, and what stands in place of a label. */
export const WIDTH = 118
export const LABEL = 11
export const INDENT = ' '.repeat(3 + LABEL)
const SUBJECT = 20

/** The account of one scene for people to read, as lines. */
export function writeAccount(account: Account, number: number, painter: Painter): readonly string[] {
  const { scene, text, ending, errors } = account
  const section = (label: string, lines: readonly string[]) =>
    lines.map((line, index) => (index === 0 ? `   ${painter.dim(label.padEnd(LABEL))}${line}` : `${INDENT}${line}`))
  return [
    painter.bold(`${number}. ${scene.title}`),
    ...section('who', [who(account)]),
    ...section('asks', [oneLine(scene.question, WIDTH - INDENT.length)]),
    ...section('gates', gates(account.effects, painter)),
    ...section('guards', [guards(account.effects)]),
    ...section('paused', account.notes.map(note)),
    ...section(
      'tools',
      account.tools.length === 0 ? ['none were asked for'] : account.tools.map((tool) => toolLine(tool, painter)),
    ),
    ...section('answer', text === null ? [] : [oneLine(text, WIDTH - INDENT.length)]),
    ...section('tokens', [`${tokens(account.usage)}${account.month === undefined ? '' : `; ${month(account.month)}`}`]),
    ...section('ended', ended(account, painter)),
    ...section('books', [books(account)]),
    ...section('row', [row(account)]),
    ...section('audit log', [auditLog(account.log, painter)]),
    ...section(
      'error log',
      errors.map(({ reference, name, message }) => oneLine(`${reference}: ${name}: ${message}`, WIDTH - INDENT.length)),
    ),
    ...(ending.code === scene.expected ? [] : section('note', [`the replay ends with ${scene.expected}`])),
  ]
}

function who({ createdBy, scene: { caller, runContext } }: Account): string {
  const bound = Object.entries(runContext).map(([key, value]) => `${key} ${value}`)
  const named = 'clerk' in runContext ? [] : ['no clerk']
  return `${createdBy} (${caller.audience}); bound to the run: ${[...bound, ...named].join(', ')}`
}

/** The gates of the desk itself that stood before an effect: its own two rules, and those of the tool. */
export const deskGates = (effect: EffectAccount): readonly GateReceipt[] =>
  effect.gates.filter((gate) => !GUARD_NAMES.has(gate.plugin))

/** A row for each tool call, with the answers of the desk's own gates. */
function gates(effects: readonly EffectAccount[], painter: Painter): readonly string[] {
  return effects
    .filter((effect) => deskGates(effect).length > 0)
    .map((effect) => {
      const again =
        effect.attempt > 1
          ? ` (attempt ${effect.attempt})`
          : effect.askings > 1
            ? ` (asked ${effect.askings} times)`
            : ''
      const answers = deskGates(effect).map((gate) => answer(gate, painter))
      return `${effect.subject.padEnd(SUBJECT)}${answers.join(', ')}${again}`
    })
}

/** What the guards answered before the run, its model calls and its tool calls: how often each of them gave which answer. */
export function guards(effects: readonly EffectAccount[]): string {
  const names = [...GUARD_NAMES.values()]
  const counts = new Map<string, Map<string, number>>([['passed', new Map()]])
  for (const { plugin, answer: given } of effects.flatMap((effect) => effect.gates)) {
    const name = GUARD_NAMES.get(plugin)
    if (name === undefined) continue
    const words = given.replaceAll('_', ' ')
    const row = counts.get(words) ?? new Map<string, number>()
    counts.set(words, row.set(name, (row.get(name) ?? 0) + 1))
  }
  return [...counts]
    .filter(([, row]) => row.size > 0)
    .map(
      ([words, row]) =>
        `${words}: ${names.flatMap((name) => (row.has(name) ? [`${name} ${row.get(name)}`] : [])).join(', ')}`,
    )
    .join('; ')
}

/** A month in money: `this month $0.00182 spent of $200.00, $199.99818 left`. */
export function month({ spent, held, unknown, amount, left }: LimitStatus): string {
  const usd = (nano: bigint) => `$${formatUsd(nano)}`
  const open = held === 0n ? '' : `, ${usd(held)} held`
  const unsure = unknown === 0n ? '' : `, ${usd(unknown)} unknown`
  return `this month ${usd(spent)} spent of ${usd(amount)}${open}${unsure}, ${usd(left)} left`
}

/** What a verification found, on one line. */
export function auditLog({ ok, size, faults }: Verification, painter: Painter): string {
  const [first] = faults
  if (ok || first === undefined) return `${size} entries, ${painter.good('verified')}`
  return `${painter.bad(`BROKEN, ${first.kind}`)}: ${first.message}`
}

function answer({ plugin, point, answer: given, code }: GateReceipt, painter: Painter): string {
  const name = point === 'authorize' ? 'authorize' : plugin
  const words = `${given.replaceAll('_', ' ')}${code === undefined ? '' : ` ${code}`}`
  if (given === 'passed') return `${name} ${painter.good(words)}`
  if (given === 'not_asked') return painter.dim(`${name} ${words}`)
  return `${name} ${given === 'paused' ? painter.warn(words) : painter.bad(words)}`
}

function note(entry: Note): string {
  if (entry.kind === 'paused') {
    return `${entry.toolCode} waits for a human (${entry.code} of ${entry.plugin}); the runtime is closed meanwhile`
  }
  return `${entry.by} decides: ${entry.decision}, "${oneLine(entry.note, 60)}"; another runtime resumes`
}

const NOT_ENTERED: readonly string[] = ['vetoed', 'not_run', 'skipped_limit']

function toolLine({ toolCode, status, args, result, errorReference }: ToolAccount, painter: Painter): string {
  const paint = status === 'ok' ? painter.good : painter.bad
  const outcome =
    errorReference !== null
      ? `failed, on record under ${errorReference}`
      : result === null || NOT_ENTERED.includes(status)
        ? 'did not run'
        : result
  const detail = oneLine(`${args} -> ${outcome}`, WIDTH - INDENT.length - SUBJECT - 8)
  return `${toolCode.padEnd(SUBJECT)}${paint(status.replaceAll('_', ' '))}${' '.repeat(Math.max(1, 8 - status.length))}${detail}`
}

function tokens(usage: Usage): string {
  const input = totalInput(usage)
  if (input === null && usage.outputTokens === null) return 'not reported'
  const cached =
    usage.cacheReadTokens === null || usage.cacheReadTokens === 0 ? '' : ` (${usage.cacheReadTokens} from the cache)`
  return `${input ?? '?'} in${cached}, ${usage.outputTokens ?? '?'} out`
}

function ended({ ending }: Account, painter: Painter): readonly string[] {
  if (ending.code === 'completed') return [painter.good(`completed (${ending.finishReason})`)]
  if (ending.code === 'paused') return [painter.warn('paused')]
  const by = ending.by === null ? '' : ` by ${ending.by}`
  return [`${painter.bad(ending.code)}${by}`, oneLine(ending.message ?? '', WIDTH - INDENT.length)]
}

function books({ books: { before, after, committed } }: Account): string {
  const rows = after.approvals - before.approvals
  const gap = after.lastNumber - before.lastNumber - rows
  const counts = `approvals ${before.approvals} -> ${after.approvals}, last number ${before.lastNumber} -> ${after.lastNumber}`
  const lost = gap === 0 ? '' : `; ${gap} number drawn that no row shows`
  return `${committed ? 'committed' : 'rolled back'}: ${counts}${lost}`
}

function row({ row: record }: Account): string {
  if (record === null) return 'none was written'
  const failure = record.error === null ? '' : `, ${record.failureKind}: ${record.error.code}`
  return `${record.status}${failure}`
}
