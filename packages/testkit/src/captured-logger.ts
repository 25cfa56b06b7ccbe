import type { Logger } from '@sluice/core'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** One captured call of a logger. */
export interface LogLine {
  readonly level: LogLevel
  /** A frozen shallow copy of the fields as they were. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly text: string
}

/** A logger that keeps what it is told. */
export interface CapturedLogger extends Logger {
  /** All lines in order; a fresh list each time. */
  readonly lines: readonly LogLine[]
  at(level: LogLevel): readonly LogLine[]
  /** Lines whose text includes `part`. */
  matching(part: string): readonly LogLine[]
  clear(): void
}

/** Makes a {@link CapturedLogger}. With `forward`, lines go on to that logger too. */
export function capturedLogger(forward?: Logger): CapturedLogger {
  let lines: LogLine[] = []
  const keep = (level: LogLevel) => (fields: Readonly<Record<string, unknown>>, text: string) => {
    lines.push(Object.freeze({ level, fields: Object.freeze({ ...fields }), text }))
    forward?.[level](fields, text)
  }
  return {
    debug: keep('debug'),
    info: keep('info'),
    warn: keep('warn'),
    error: keep('error'),
    get lines() {
      return [...lines]
    },
    at: (level) => lines.filter((line) => line.level === level),
    matching: (part) => lines.filter((line) => line.text.includes(part)),
    clear() {
      lines = []
    },
  }
}
