import type { ErrorDialect } from '../shared/to-provider-error.js'
import { isWire, wireText } from '../shared/wire-json.js'

/** Ollama's errors are a text under `error`, without a code of their own; its cloud sends an object there. */
export const OLLAMA_ERRORS: ErrorDialect = {
  known: {},
  errorOf(body) {
    if (isWire(body.error)) return body.error
    return body.error === undefined ? body : { message: wireText(body.error) }
  },
}
