/** Colours for people at a terminal. What a colour says, a word beside it says too. */
export interface Painter {
  good(text: string): string
  bad(text: string): string
  warn(text: string): string
  dim(text: string): string
  bold(text: string): string
}

/** True where colours may be written: to a terminal, unless `NO_COLOR` is set; `FORCE_COLOR` wins over both. */
export function wantsColour(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): boolean {
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '') return env.FORCE_COLOR !== '0'
  return isTerminal && (env.NO_COLOR === undefined || env.NO_COLOR === '')
}

/** A painter that colours, or one that gives every text back as it is. */
export function createPainter(colour: boolean): Painter {
  const paint = (open: number, close: number) => (text: string) =>
    colour ? `\u001b[${open}m${text}\u001b[${close}m` : text
  return { good: paint(32, 39), bad: paint(31, 39), warn: paint(33, 39), dim: paint(2, 22), bold: paint(1, 22) }
}
