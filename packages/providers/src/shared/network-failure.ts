import type { ProviderErrorCode } from '@sluice/core'
import { NetworkFailure } from './sdk-fetch.js'

export interface NetworkReading {
  readonly code: ProviderErrorCode
  /** Whether the request can have reached the provider. */
  readonly sent: 'no' | 'yes' | 'unknown'
  readonly reason: string
  readonly cause: unknown
}

const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'ERR_INVALID_URL',
])
const TIMED_OUT = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
  'ESOCKETTIMEDOUT',
])
const TLS = /^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/
const DEEPEST = 6

/** Reads what went wrong on the way to the provider; `undefined` where `thrown` is no such failure. */
export function readNetworkFailure(thrown: unknown): NetworkReading | undefined {
  const chain = causes(thrown)
  const own = chain.find((error) => error instanceof NetworkFailure)
  const code = chain.map(codeOf).find((found) => found !== undefined)
  const connection = own !== undefined || chain.some((error) => /^APIConnection/.test(error.constructor.name))
  if (!connection && code === undefined) return undefined
  const connecting = chain.some((error) => (error as { syscall?: unknown }).syscall === 'connect')
  const timedOut = code === undefined ? timeoutOfSdk(chain) : TIMED_OUT.has(code)
  return {
    code: timedOut ? 'PROVIDER_TIMEOUT' : 'PROVIDER_UNREACHABLE',
    sent: code !== undefined && (NEVER_SENT.has(code) || TLS.test(code) || connecting) ? 'no' : 'unknown',
    reason: code ?? deepestMessage(chain),
    cause: own === undefined ? thrown : own.origin,
  }
}

function causes(thrown: unknown): Error[] {
  const chain: Error[] = []
  let next: unknown = thrown
  while (next instanceof Error && chain.length < DEEPEST) {
    chain.push(next)
    const several: unknown = (next as { errors?: unknown }).errors
    next =
      next instanceof NetworkFailure ? next.origin : (next.cause ?? (Array.isArray(several) ? several[0] : undefined))
  }
  return chain
}

function codeOf(error: Error): string | undefined {
  const code: unknown = (error as { code?: unknown }).code
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(code) ? code : undefined
}

function timeoutOfSdk(chain: readonly Error[]): boolean {
  return chain.some((error) => error.constructor.name === 'APIConnectionTimeoutError' || error.name === 'TimeoutError')
}

function deepestMessage(chain: readonly Error[]): string {
  return chain.at(-1)?.message ?? 'no reason given'
}
