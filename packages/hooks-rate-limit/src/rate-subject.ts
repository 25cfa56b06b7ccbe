import { createHash } from 'node:crypto'
import type { ResolvedCaller } from '@sluice/core'
import { getCaller, Veto } from '@sluice/core'
import type { RateCount } from './rate-limit-options.js'

/**
 * Whose calls are counted together. `user` and `session` are those of one tenant, `run` is a whole tree, `agent` the one
 * that makes the call (calls outside any agent are counted together).
 */
export type RateScope = 'all' | 'tenant' | 'user' | 'app' | 'session' | 'run' | 'agent' | 'provider' | 'model' | 'tool'

/** What a key function is told of a call. `null` where there is none. */
export interface RateSubject {
  readonly count: RateCount
  readonly tenant: string | null
  /** The caller's user; never the service user of the runtime. */
  readonly user: string | null
  readonly appId: string | null
  readonly sessionId: string | null
  readonly rootExecutionId: string
  readonly agentCode: string | null
  readonly provider: string | null
  readonly model: string | null
  readonly toolCode: string | null
  readonly caller: ResolvedCaller | null
}

/** The facts of a context that a subject is made of. */
export interface SubjectFacts {
  readonly tenant: string | null
  readonly sessionId: string | null
  readonly rootExecutionId: string
  readonly agentCode: string | null
  readonly provider?: string | null
  readonly model?: string | null
  readonly toolCode?: string | null
}

/** The subject of an asking: its facts, and the caller of the tree that is executing. */
export function subjectOf(count: RateCount, facts: SubjectFacts): RateSubject {
  const caller = getCaller()
  return Object.freeze({
    count,
    tenant: facts.tenant,
    user: caller?.user ?? null,
    appId: caller?.appId ?? null,
    sessionId: facts.sessionId,
    rootExecutionId: facts.rootExecutionId,
    agentCode: facts.agentCode,
    provider: facts.provider ?? null,
    model: facts.model ?? null,
    toolCode: facts.toolCode ?? null,
    caller,
  })
}

/**
 * The parts of a document key for a subject in a combination of scopes.
 *
 * @throws Veto SCOPE_UNRESOLVED where the call has no such thing: never a shared bucket
 */
export function scopeParts(limit: string, scopes: readonly RateScope[], subject: RateSubject): readonly string[] {
  return scopes.flatMap((scope) => {
    switch (scope) {
      case 'all':
        return []
      case 'user':
        return [keyPart(subject.tenant), keyPart(needed(limit, scope, subject.user))]
      case 'session':
        return [keyPart(subject.tenant), keyPart(needed(limit, scope, subject.sessionId))]
      case 'tenant':
        return [keyPart(needed(limit, scope, subject.tenant))]
      case 'app':
        return [keyPart(needed(limit, scope, subject.appId))]
      case 'run':
        return [keyPart(subject.rootExecutionId)]
      case 'agent':
        return [keyPart(subject.agentCode)]
      case 'model':
        return [keyPart(subject.provider), keyPart(subject.model)]
      case 'provider':
        return [keyPart(subject.provider)]
      default:
        return [keyPart(subject.toolCode)]
    }
  })
}

const LONGEST_PART = 900
const UNPAIRED = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/

/** One part of a document key for any text: two different ones, `null` included, never share it. */
export function keyPart(value: string | null): string {
  if (value === null) return '-'
  if (value.length <= LONGEST_PART && !UNPAIRED.test(value)) return `=${value}`
  return `#${createHash('sha256').update(Buffer.from(value, 'utf16le')).digest('hex')}`
}

function needed(limit: string, scope: RateScope, value: string | null): string {
  if (value !== null) return value
  throw new Veto(
    'SCOPE_UNRESOLVED',
    `Limit "${limit}" is kept per ${scope}, and this call has no ${scope}. Give it in \`caller\`, or count by another scope.`,
    { limit, scope },
  )
}
