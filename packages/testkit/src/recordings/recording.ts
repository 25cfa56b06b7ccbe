import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { testkitError } from '../testkit-error.js'

/** The answer of a recorded exchange: `body` is parsed JSON, `bodyText` the raw text of a stream. */
export interface RecordedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly bodyText?: string
}

/** One request to a provider and its answer, as it was recorded. `request.body` is `null` where only the answer is known. */
export interface RecordedExchange {
  readonly request: { readonly method: string; readonly url: string; readonly body: unknown }
  readonly response: RecordedResponse
}

/** One file of recorded traffic: exchanges in recorded order. Other fields than these are kept and ignored. */
export interface Recording {
  readonly provider: string
  readonly case: string
  readonly exchanges: readonly RecordedExchange[]
}

/** Reads one recording. @throws FIXTURE_NOT_FOUND, FIXTURE_INVALID */
export function readRecording(path: string): Recording {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    throw testkitError('FIXTURE_NOT_FOUND', `The recording ${path} cannot be read.`, { file: path }, cause)
  }
  try {
    return checked(JSON.parse(text))
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw testkitError('FIXTURE_INVALID', `The file ${path} is no recording: ${why}.`, { file: path }, cause)
  }
}

/** Reads every recording of a folder, in the order of their file names; none where the folder does not exist. */
export function readRecordings(
  folder: string,
): ReadonlyArray<{ readonly file: string; readonly recording: Recording }> {
  let files: string[]
  try {
    files = readdirSync(folder).filter((file) => file.endsWith('.json'))
  } catch {
    return []
  }
  return files.sort().map((file) => ({ file, recording: readRecording(join(folder, file)) }))
}

function checked(value: unknown): Recording {
  const recording = value as Partial<Recording> | null
  if (!Array.isArray(recording?.exchanges) || recording.exchanges.length === 0) throw new Error('it has no exchanges')
  for (const [index, exchange] of recording.exchanges.entries()) {
    const { request, response } = exchange as Partial<RecordedExchange>
    if (typeof request?.url !== 'string') throw new Error(`exchanges[${index}].request has no url`)
    if (!Number.isInteger(response?.status)) throw new Error(`exchanges[${index}].response has no status`)
    if (response?.body === undefined && typeof response?.bodyText !== 'string') {
      throw new Error(`exchanges[${index}].response has neither body nor bodyText`)
    }
  }
  return recording as Recording
}

/** The bytes of a recorded answer: a stream as it came, anything else as JSON. */
export function responseText(response: RecordedResponse): string {
  return response.bodyText ?? JSON.stringify(response.body)
}

/** The headers under which a recorded answer is served again: without those that describe its transfer. */
export function responseHeaders(response: RecordedResponse): Record<string, string> {
  const transfer = new Set(['content-length', 'content-encoding', 'transfer-encoding', 'connection'])
  const kept = Object.entries(response.headers).filter(([name]) => !transfer.has(name.toLowerCase()))
  return Object.fromEntries(kept)
}
