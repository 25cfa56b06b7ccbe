import { SluiceError } from '../errors/sluice-error.js'
import type { Clock } from '../internal/clock.js'
import type { MessageRecord, SessionRecord } from '../store/records.js'
import type { MessageRepository, Page, PageRequest, SessionRepository } from '../store/store.js'
import { isWithheld } from './message-rows.js'
import type { Scope } from './scope.js'
import { inScope, parseScope, storeFilter } from './scope.js'
import { sessionForbidden } from './session-access.js'
import { boundedCharacters, MAX_COMMENT, MAX_TITLE, parseRating } from './session-text.js'

/** On whose behalf something is read or changed. */
export interface Scoped {
  readonly scope: Scope
}

/** Options of a transcript. */
export interface TranscriptRequest extends Scoped, PageRequest {
  /** Also give what a gate took back. @default false */
  readonly withheld?: boolean
}

/** `runtime.sessions`: headers, transcripts, titles and feedback. A session outside the scope is as one that does not exist. */
export interface Sessions {
  /** Headers, newest activity first (S-29). `createdBy` narrows scope `'all'` or a tenant to one user. */
  list(request: Scoped & PageRequest & { readonly createdBy?: string }): Promise<Page<SessionRecord>>
  /** One header. @throws SESSION_FORBIDDEN */
  get(sessionId: string, request: Scoped): Promise<SessionRecord>
  /** The transcript in `seq` order. @throws SESSION_FORBIDDEN */
  messages(sessionId: string, request: TranscriptRequest): Promise<Page<MessageRecord>>
  /**
   * Sets the title: trimmed, at most 200 characters, cut beyond; `null` or blank clears it (S-31). Does not reorder lists.
   * Returns whether a session was changed: `false` only for a missing id. @throws SESSION_FORBIDDEN, INVALID_CONFIG
   */
  setTitle(sessionId: string | null | undefined, title: string | null, request: Scoped): Promise<boolean>
  /**
   * Replaces rating, comment and time together; no rating (or an unknown one) withdraws all three (S-32). The comment is
   * trimmed and cut at 2 000 characters. Returns as {@link Sessions.setTitle}. @throws SESSION_FORBIDDEN, INVALID_CONFIG
   */
  setFeedback(
    sessionId: string | null | undefined,
    feedback: { readonly rating: string | null; readonly comment?: string | null },
    request: Scoped,
  ): Promise<boolean>
}

/** What the read model works on. */
export interface SessionReadModelParts {
  readonly store: { readonly sessions: SessionRepository; readonly messages: MessageRepository }
  readonly clock: Pick<Clock, 'now'>
}

const DEFAULT_LIMIT = 100

/** Makes `runtime.sessions`. Setters are independent writes: they survive a rollback of the caller's transaction (S-36). */
export function createSessionReadModel({ store, clock }: SessionReadModelParts): Sessions {
  async function headerInScope(sessionId: string, scope: Scope): Promise<SessionRecord> {
    const header = await store.sessions.get(sessionId)
    if (header === undefined || !inScope(header, scope)) throw sessionForbidden(sessionId)
    return header
  }

  async function change(
    sessionId: string | null | undefined,
    request: Scoped,
    next: (header: SessionRecord) => Partial<SessionRecord>,
  ): Promise<boolean> {
    const scope = parseScope(request?.scope)
    if (sessionId === null || sessionId === undefined) return false
    let allowed = false
    await store.sessions.update(sessionId, (header) => {
      allowed = header !== undefined && inScope(header, scope)
      return header === undefined || !allowed ? undefined : { ...header, ...next(header), updatedAt: clock.now() }
    })
    if (!allowed) throw sessionForbidden(sessionId)
    return true
  }

  return Object.freeze({
    async list(request) {
      const scope = parseScope(request?.scope)
      const { limit, after, createdBy } = request
      const filter = { ...(createdBy === undefined ? {} : { createdBy }), ...storeFilter(scope) }
      const page = await store.sessions.list({ ...filter, ...paging(limit, after) })
      return { items: page.items.filter((header) => fits(header, scope, createdBy)), next: page.next }
    },
    async get(sessionId, request) {
      return headerInScope(sessionId, parseScope(request?.scope))
    },
    async messages(sessionId, request) {
      await headerInScope(sessionId, parseScope(request?.scope))
      const limit = request.limit ?? DEFAULT_LIMIT
      const rows = await store.messages.list(sessionId, { limit, afterSeq: parseAfter(request.after) })
      const last = rows.length < limit ? undefined : rows.at(-1)
      const more = last !== undefined && last.seq < (await store.messages.count(sessionId))
      const items = request.withheld === true ? rows : rows.filter((row) => !isWithheld(row))
      return { items, next: more ? String(last.seq) : null }
    },
    async setTitle(sessionId, title, request) {
      checkText('title', title)
      const kept = boundedCharacters(title, MAX_TITLE)
      return change(sessionId, request, () => ({ title: kept }))
    },
    async setFeedback(sessionId, feedback, request) {
      checkText('comment', feedback?.comment)
      const feedbackRating = parseRating(feedback?.rating)
      const rated = feedbackRating !== null
      const feedbackComment = rated ? boundedCharacters(feedback.comment, MAX_COMMENT) : null
      return change(sessionId, request, () => ({
        feedbackRating,
        feedbackComment,
        feedbackAt: rated ? clock.now() : null,
      }))
    },
  } satisfies Sessions)
}

function fits(header: SessionRecord, scope: Scope, createdBy: string | undefined): boolean {
  return inScope(header, scope) && (createdBy === undefined || header.createdBy === createdBy)
}

function paging(limit: number | undefined, after: string | undefined): PageRequest {
  return { ...(limit === undefined ? {} : { limit }), ...(after === undefined ? {} : { after }) }
}

function parseAfter(after: string | undefined): number {
  if (after === undefined) return 0
  const seq = Number(after)
  if (Number.isSafeInteger(seq) && seq >= 0) return seq
  throw new SluiceError('INVALID_CONFIG', 'The `after` of a transcript must be the `next` of the page before it.', {
    reason: 'page.after',
  })
}

function checkText(name: string, text: unknown): void {
  if (text === undefined || text === null || typeof text === 'string') return
  throw new SluiceError('INVALID_CONFIG', `The ${name} of a session must be text or null, not a ${typeof text}.`, {
    reason: `session.${name}`,
  })
}
