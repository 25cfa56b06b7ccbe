import { inspect } from 'node:util'

const SHORTEST_SECRET = 6
const REDACTED = '[redacted]'

/** Takes the given values out of a text. Very short ones stay: they are no secrets, and would tear words apart. */
export function redactSecrets(text: string, secrets: readonly string[]): string {
  let clean = text
  for (const secret of secrets) {
    if (secret.length >= SHORTEST_SECRET && clean.includes(secret)) clean = clean.split(secret).join(REDACTED)
  }
  return clean
}

/**
 * The error that stands behind another one, fit to be logged: itself, or, where printing it would show one of the
 * secrets, a copy of its name, message and stack without them.
 */
export function withoutSecrets(cause: unknown, secrets: readonly string[]): unknown {
  hideResponseHeaders(cause)
  if (secrets.every((secret) => secret.length < SHORTEST_SECRET)) return cause
  const shown = inspect(cause, { depth: 8, showHidden: false })
  if (redactSecrets(shown, secrets) === shown) return cause
  if (!(cause instanceof Error)) return redactSecrets(shown, secrets)
  const copy = new Error(redactSecrets(cause.message, secrets))
  copy.name = cause.name
  copy.stack = redactSecrets(cause.stack ?? '', secrets)
  return copy
}

/** SDK errors carry the response headers, cookies included: they stay readable, but are not printed. */
function hideResponseHeaders(cause: unknown): void {
  if (cause instanceof Error && Object.hasOwn(cause, 'headers')) {
    try {
      Object.defineProperty(cause, 'headers', { enumerable: false })
    } catch {
      // a frozen error prints what it prints
    }
  }
}
