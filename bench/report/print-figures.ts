import type { Figure } from '../measure/figure.js'

/** Prints figures as a table, one line each. */
export function printFigures(figures: readonly Figure[]): void {
  const width = Math.max(...figures.map((figure) => figure.name.length))
  for (const figure of figures) console.log(`  ${figure.name.padEnd(width)}  ${measured(figure)}  ${verdict(figure)}`)
}

function measured({ subject, floor, ratio, same, unit, slices }: Figure): string {
  if (floor === undefined || ratio === undefined || same === undefined)
    return `${Math.round(subject.median)} (least ${Math.round(subject.minimum)}) ${unit}, ${slices} slices`
  const spread = `${two(same.spread[0])}-${two(same.spread[1])}`
  return `${two(ratio.medians)} x by medians, ${two(ratio.minima)} x by minima, A/A ${two(same.medians)} and ${two(same.minima)} (${spread}), ${slices} slices`
}

function verdict({ target, verdict: told, floor }: Figure): string {
  const bound = target === undefined ? '' : floor === undefined ? `target ${target}: ` : `target ${two(target)} x: `
  return `${bound}${told === 'no target' ? '' : told}`
}

function two(value: number): string {
  return value.toFixed(2)
}
