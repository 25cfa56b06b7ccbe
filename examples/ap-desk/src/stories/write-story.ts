import { oneLine } from '../account/one-line.js'
import type { Painter } from '../account/painter.js'
import { auditLog, guards, INDENT, LABEL, WIDTH } from '../account/write-account.js'
import type { Step, StoryAccount } from './story-account.js'
import { endingsOf } from './story-account.js'

/** Endings that are good news. */
const GOOD: ReadonlySet<string> = new Set(['completed', 'verified'])

/** The account of one story for people to read, as lines. */
export function writeStory(account: StoryAccount, number: number, painter: Painter): readonly string[] {
  const { story, steps, effects, log } = account
  const asExpected = endingsOf(account).join() === story.expected.join()
  return [
    painter.bold(`${number}. ${story.title}`),
    ...steps.flatMap((step) => writeStep(step, painter)),
    ...writeStep({ label: 'guards', lines: [guards(effects)], ending: null }, painter),
    ...writeStep({ label: 'audit log', lines: [auditLog(log, painter)], ending: null }, painter),
    ...(asExpected
      ? []
      : writeStep(
          { label: 'note', lines: [`the replay ends with ${story.expected.join(', ')}`], ending: null },
          painter,
        )),
  ]
}

function writeStep({ label, lines, ending }: Step, painter: Painter): readonly string[] {
  return lines
    .flatMap((line, index) => {
      const shown = wrap(line)
      return index === 0 && ending !== null ? shown.map((text) => paint(text, ending, painter)) : shown
    })
    .map((line, index) => (index === 0 ? `   ${painter.dim(label.padEnd(LABEL))}${line}` : `${INDENT}${line}`))
}

function paint(text: string, ending: string, painter: Painter): string {
  if (GOOD.has(ending)) return painter.good(text)
  return ending === 'paused' ? painter.warn(text) : painter.bad(text)
}

const MAX_LINE = 400

/** At blanks, so that no line is wider than the others. */
function wrap(text: string): readonly string[] {
  const lines: string[] = []
  for (const word of oneLine(text, MAX_LINE).split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || last.length + word.length >= WIDTH - INDENT.length) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}
