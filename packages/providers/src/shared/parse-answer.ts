import { ReplyFault } from './reply-fault.js'

const SHOWN = 500

/** The body of an answer as JSON; a fault with its beginning, where it is something else (G-55). */
export function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ReplyFault(`the answer is not JSON: ${text.slice(0, SHOWN)}`)
  }
}
