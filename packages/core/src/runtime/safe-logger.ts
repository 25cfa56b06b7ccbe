import { isThenable } from '../internal/json.js'
import type { Logger } from '../internal/logger.js'

type Level = keyof Logger

/** A logger that never throws around one that may: what goes wrong in it is ignored, and no run or plugin hears of it. */
export function safeLogger(logger: Logger): Logger {
  const write =
    (level: Level): Logger[Level] =>
    (fields, text) => {
      try {
        const returned: unknown = logger[level](fields, text)
        if (returned !== undefined && isThenable(returned)) returned.then(undefined, () => undefined)
      } catch {
        // a logger that throws is ignored
      }
    }
  return Object.freeze({ debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') })
}
