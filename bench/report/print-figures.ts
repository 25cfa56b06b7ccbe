import type { Figure } from '../measure/figure.js'

/** The figures as a Markdown table. Ratios are against the raw loop of the same slices; `A/A` is that loop against itself. */
export function figuresTable(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => {
    const { ratio, same, target } = figure
    const value =
      ratio === undefined
        ? `${figure.subject.median.toFixed(0)} (least ${figure.subject.minimum.toFixed(0)}) ${figure.unit}`
        : `${ratio.medians.toFixed(2)} / ${ratio.minima.toFixed(2)}`
    const spread = same === undefined ? '–' : `${same.spread[0].toFixed(2)} … ${same.spread[1].toFixed(2)}`
    return `| ${figure.name} | ${value} | ${spread} | ${target === undefined ? '–' : String(target)} | ${figure.slices} | ${figure.verdict} |`
  })
  return [
    '| figure | medians / minima | A/A spread | target | slices | verdict |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n')
}
