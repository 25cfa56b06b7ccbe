import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { RecordedResponse } from '@sluice/testkit'
import { responseText } from '@sluice/testkit'

/** What a fault is made of. */
export interface FaultContext {
  readonly response: ServerResponse
  /** The answer that a well-behaved server would give. */
  readonly answer: RecordedResponse
  /** A whole number below a bound, from the seed. */
  random(below: number): number
}

/** How a run with this fault may end: with a result, or with one of these codes. */
export interface Fault {
  readonly name: string
  /** True where the run must come to its result. */
  readonly harmless?: true
  /** Codes with which it may end; a result is no fault where `harmless` or `mayPass` is set. */
  readonly codes: readonly string[]
  readonly mayPass?: true
  /** True where it costs so much that every second turn is another's. */
  readonly heavy?: true
  play(context: FaultContext): void | Promise<void>
}

/** The adapters read 16 MiB of an answer, and of one line of a stream. */
const BEYOND_THE_BOUND = 17 * 1024 * 1024
const PACE_MS = 4
const MIB = Buffer.alloc(1024 * 1024, 0x61)
const BROKEN = ['PROVIDER_STREAM_BROKEN', 'PROVIDER_RESPONSE_ERROR', 'PROVIDER_UNREACHABLE']
const UNUSABLE = ['PROVIDER_RESPONSE_ERROR', 'PROVIDER_STREAM_BROKEN']
const LARGE = ['PROVIDER_RESPONSE_TOO_LARGE']

const paced = () => new Promise<void>((resolve) => setTimeout(resolve, PACE_MS))
const head = ({ response, answer }: FaultContext, more: Record<string, string> = {}) =>
  response.writeHead(answer.status, { ...answer.headers, ...more })

/** Sends a body of so many bytes without ever having it; stops where the reader is gone. */
async function endless(response: ServerResponse, opening: string, length: number): Promise<void> {
  response.write(opening)
  for (let left = length - opening.length; left > 0; left -= MIB.length) {
    if (response.destroyed) return
    if (!response.write(MIB.subarray(0, left))) await writable(response)
  }
  response.end()
}

/** Until the reader has taken what there is, or is gone. */
function writable(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      response.off('drain', go).off('close', go)
      resolve()
    }
    response.on('drain', go).on('close', go)
  })
}

/** A page of a proxy. */
const page = (status: number) =>
  `<!DOCTYPE html><html><head><title>${status}</title></head><body>${'<p>It is broken.</p>'.repeat(200)}</body></html>`

function html(status: number, code: string): Fault {
  return {
    name: `${status} with HTML`,
    codes: [code],
    play({ response }) {
      response.writeHead(status, { 'content-type': 'text/html' }).end(page(status))
    },
  }
}

/** JSON text nested so deep. */
const nested = (depth: number) => `${'{"a":['.repeat(depth)}1${']}'.repeat(depth)}`

let bomb: Buffer | undefined

export const FAULTS: readonly Fault[] = [
  {
    name: 'none',
    harmless: true,
    codes: [],
    play: (context) => void head(context).end(responseText(context.answer)),
  },
  {
    name: 'slow bytes',
    harmless: true,
    codes: [],
    async play(context) {
      const body = Buffer.from(responseText(context.answer))
      head(context)
      const step = Math.ceil(body.length / (10 + context.random(30)))
      for (let at = 0; at < body.length; at += step) {
        context.response.write(body.subarray(at, at + step))
        await paced()
      }
      context.response.end()
    },
  },
  {
    name: 'reset before the head',
    codes: ['PROVIDER_UNREACHABLE'],
    play: ({ response }) => void response.socket?.resetAndDestroy(),
  },
  {
    name: 'reset behind the head',
    codes: BROKEN,
    async play(context) {
      head(context).flushHeaders()
      await paced()
      context.response.socket?.resetAndDestroy()
    },
  },
  {
    name: 'reset inside the body',
    codes: BROKEN,
    async play(context) {
      const body = Buffer.from(responseText(context.answer))
      head(context).write(body.subarray(0, 1 + context.random(Math.floor(body.length / 2))))
      await paced()
      context.response.socket?.resetAndDestroy()
    },
  },
  {
    name: 'body shorter than it says',
    codes: BROKEN,
    async play(context) {
      const body = Buffer.from(responseText(context.answer))
      head(context, { 'content-length': String(body.length) }).write(
        body.subarray(0, 1 + context.random(Math.floor(body.length / 2))),
      )
      await paced()
      context.response.socket?.destroy()
    },
  },
  {
    name: 'body that ends early',
    codes: UNUSABLE,
    play(context) {
      const body = Buffer.from(responseText(context.answer))
      head(context).end(body.subarray(0, 1 + context.random(Math.floor(body.length / 2))))
    },
  },
  {
    name: 'no body at all',
    codes: UNUSABLE,
    play: (context) => void head(context).end(),
  },
  {
    name: 'bytes that are no text',
    codes: UNUSABLE,
    play(context) {
      const body = Buffer.from(Array.from({ length: 500 }, () => context.random(256)))
      head(context).end(body)
    },
  },
  {
    name: 'a page in place of the answer',
    codes: UNUSABLE,
    play: ({ response }) => void response.writeHead(200, { 'content-type': 'text/html' }).end(page(200)),
  },
  {
    name: 'another content type',
    codes: UNUSABLE,
    mayPass: true,
    play(context) {
      const type = ['text/html', 'image/png', 'application/octet-stream', 'text/plain; charset=utf-16'][
        context.random(4)
      ]
      head(context, { 'content-type': type as string }).end(responseText(context.answer))
    },
  },
  {
    name: 'JSON that says it is a stream, and the reverse',
    codes: UNUSABLE,
    mayPass: true,
    play(context) {
      const stream = context.answer.bodyText !== undefined
      head(context, { 'content-type': stream ? 'application/json' : 'text/event-stream' }).end(
        responseText(context.answer),
      )
    },
  },
  html(500, 'PROVIDER_OVERLOADED'),
  html(502, 'PROVIDER_OVERLOADED'),
  html(403, 'PROVIDER_AUTH'),
  {
    name: 'an error with a giant body',
    heavy: true,
    codes: ['PROVIDER_OVERLOADED'],
    async play({ response }) {
      response.writeHead(503, { 'content-type': 'application/json' })
      await endless(response, '{"error":{"message":"', 8 * 1024 * 1024)
    },
  },
  {
    name: 'a giant',
    heavy: true,
    codes: LARGE,
    async play(context) {
      const { answer, response } = context
      head(context, context.random(2) === 0 ? { 'content-length': String(BEYOND_THE_BOUND) } : {})
      await endless(response, answer.bodyText === undefined ? '{"text":"' : 'data: ', BEYOND_THE_BOUND)
    },
  },
  {
    name: 'a giant that comes packed',
    heavy: true,
    codes: LARGE,
    play(context) {
      bomb ??= gzipSync(Buffer.alloc(BEYOND_THE_BOUND, 0x20))
      head(context, { 'content-encoding': 'gzip' }).end(bomb)
    },
  },
  {
    name: 'a body nested deep',
    codes: UNUSABLE,
    play(context) {
      const body = nested(50_000 + context.random(50_000))
      const streamed = context.answer.bodyText !== undefined
      head(context).end(streamed && !isLines(context.answer) ? `data: ${body}\n\n` : `${body}\n`)
    },
  },
  {
    name: 'a member nested deep inside a good answer',
    mayPass: true,
    codes: UNUSABLE,
    play(context) {
      const deep = `"unheard_of":${nested(20_000)},`
      head(context).end(
        responseText(context.answer).replace(/\{(?=")/g, (brace, at: number) => (at < 200 ? brace + deep : brace)),
      )
    },
  },
]

function isLines({ headers }: RecordedResponse): boolean {
  return /ndjson/.test(headers['content-type'] ?? '')
}
