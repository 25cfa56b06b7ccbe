import type { Figure } from '../measure/figure.js'

/** The figures as a table in Markdown, as docs/benchmarks.md has it. */
export function markdownTable(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => `| ${[`\`${figure.name}\``, ...cells(figure)].join(' | ')} |`)
  return [
    '| figure | by medians | by minima | A/A (spread) | target | verdict |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n')
}

function cells({ subject, ratio, same, unit, target, verdict }: Figure): readonly string[] {
  const told = verdict === 'no target' ? '–' : verdict
  if (ratio === undefined || same === undefined)
    return [`${Math.round(subject.median)} ${unit}`, String(Math.round(subject.minimum)), '–', bound(target, ''), told]
  const [low, high] = same.spread
  return [
    times(ratio.medians),
    times(ratio.minima),
    `${same.medians.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`,
    bound(target, ' ×'),
    told,
  ]
}

function bound(target: number | undefined, unit: string): string {
  return target === undefined ? '–' : `${target}${unit}`
}

function times(ratio: number): string {
  return `${ratio.toFixed(2)} ×`
}
