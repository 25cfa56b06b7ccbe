import type { GateReceipt, Usage } from '@sluice/core'
import { totalInput } from '@sluice/core'
import type { Account, EffectAccount, Note, ToolAccount } from './account.js'
import { oneLine } from './one-line.js'
import type { Painter } from './painter.js'

const WIDTH = 118
const LABEL = 11
const INDENT = ' '.repeat(3 + LABEL)
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
    ...section('paused', account.notes.map(note)),
    ...section(
      'tools',
      account.tools.length === 0 ? ['none were asked for'] : account.tools.map((tool) => toolLine(tool, painter)),
    ),
    ...section('answer', text === null ? [] : [oneLine(text, WIDTH - INDENT.length)]),
    ...section('tokens', [tokens(account.usage)]),
    ...section('ended', ended(account, painter)),
    ...section('books', [books(account)]),
    ...section('row', [row(account)]),
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

/** A row for each tool call that stood before gates; effects before which no gate stands are counted. */
function gates(effects: readonly EffectAccount[], painter: Painter): readonly string[] {
  const guarded = effects.filter((effect) => effect.gates.length > 0)
  const models = effects.filter((effect) => effect.effect === 'model_call' && effect.gates.length === 0).length
  const lines = guarded.map((effect) => {
    const again =
      effect.attempt > 1 ? ` (attempt ${effect.attempt})` : effect.askings > 1 ? ` (asked ${effect.askings} times)` : ''
    return `${effect.subject.padEnd(SUBJECT)}${effect.gates.map((gate) => answer(gate, painter)).join(', ')}${again}`
  })
  if (models > 0) lines.push(`${`${models} model call${models === 1 ? '' : 's'}`.padEnd(SUBJECT)}no gate stands there`)
  return lines
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
