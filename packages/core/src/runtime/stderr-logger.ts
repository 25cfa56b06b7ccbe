import type { Logger } from '../internal/logger.js'

/** Warnings and errors as one JSON line each on standard error. */
export function stderrLogger(): Logger {
  const write = (level: string, fields: Readonly<Record<string, unknown>>, text: string): void => {
    process.stderr.write(`${safeLine({ level, text, ...fields })}\n`)
  }
  return {
    debug: () => undefined,
    info: () => undefined,
    warn: (fields, text) => write('warn', fields, text),
    error: (fields, text) => write('error', fields, text),
  }
}

function safeLine(record: Readonly<Record<string, unknown>>): string {
  try {
    // JSON escapes control characters below U+0020; these are the others that move a cursor or hide text
    return JSON.stringify(record)
      .replace(
        /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
        (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
      )
      .slice(0, 16_384)
  } catch {
    return '{"text":"a log record that cannot be shown"}'
  }
}
