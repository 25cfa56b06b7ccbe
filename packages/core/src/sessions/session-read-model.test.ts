import { beforeEach, describe, expect, it } from 'vitest'
import type { Caller } from '../context/caller.js'
import { normalizeCaller } from '../context/caller.js'
import { environmentFields } from '../context/environment.js'
import { SluiceError } from '../errors/sluice-error.js'
import { createIds } from '../internal/ids.js'
import type { Message } from '../messages/message.js'
import { createMemoryStore } from '../store/memory/create-memory-store.js'
import type { Store } from '../store/store.js'
import { toRows } from './message-rows.js'
import type { Scope } from './scope.js'
import { openTurn } from './session-header.js'
import type { Sessions } from './session-read-model.js'
import { createSessionReadModel } from './session-read-model.js'

const petra: Scope = { tenant: 'acme', user: 'petra.k' }
const acme: Scope = { tenant: 'acme' }
let store: Store
let sessions: Sessions
let now: number

async function open(sessionId: string, caller: Caller, at = 1000): Promise<void> {
  const environment = environmentFields(normalizeCaller(caller, 'svc'), () => ({}))
  await store.sessions.update(sessionId, (current) =>
    openTurn(current, { sessionId, agentId: 'a1', environment, runContext: {}, at }),
  )
}
async function fault(run: Promise<unknown>): Promise<SluiceError> {
  const error = await run.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!SluiceError.isInstance(error)) throw error ?? new Error('nothing was thrown')
  return error
}

beforeEach(async () => {
  store = createMemoryStore()
  now = 5000
  sessions = createSessionReadModel({ store, clock: { now: () => now } })
  await open('s1', { user: 'petra.k', tenant: 'acme' }, 1000)
  await open('s2', { user: 'mallory', tenant: 'acme' }, 3000)
  await open('s3', { user: 'petra.k', tenant: 'other' }, 2000)
  await open('job', { tenant: 'acme' }, 4000)
  await open('free', { user: 'petra.k' }, 500)
})

describe('sessions.list', () => {
  const listed = async (scope: Scope, more = {}) =>
    (await sessions.list({ scope, ...more })).items.map((header) => header.sessionId)

  it('S-29: reads headers, newest activity first', async () => {
    expect(await listed('all')).toEqual(['job', 's2', 's3', 's1', 'free'])
  })

  it('design 4.3: shows the scope and nothing else', async () => {
    expect(await listed(acme)).toEqual(['job', 's2', 's1'])
    expect(await listed(petra)).toEqual(['s1'])
    expect(await listed({ tenant: null })).toEqual(['free'])
    expect(await listed({ tenant: 'nobody' })).toEqual([])
  })

  it('S-33, S-34: a user named as the service user does not see the sessions of jobs', async () => {
    expect(await listed({ tenant: 'acme', user: 'svc' })).toEqual([])
    expect(await listed(acme, { createdBy: 'svc' })).toEqual(['job'])
    expect(await listed('all', { createdBy: 'petra.k' })).toEqual(['s3', 's1', 'free'])
  })

  it('S-30: is paged', async () => {
    const first = await sessions.list({ scope: 'all', limit: 2 })
    expect(first.items.map((header) => header.sessionId)).toEqual(['job', 's2'])
    const second = await sessions.list({ scope: 'all', limit: 2, after: first.next as string })
    expect(second.items.map((header) => header.sessionId)).toEqual(['s3', 's1'])
  })

  it('design 4.3: a scope has no default', async () => {
    expect((await fault(sessions.list({} as never))).code).toBe('MISSING_CONFIG')
    expect((await fault(sessions.get('s1', undefined as never))).code).toBe('MISSING_CONFIG')
    expect((await fault(sessions.setTitle('s1', 'x', undefined as never))).code).toBe('MISSING_CONFIG')
    expect((await fault(sessions.messages('s1', {} as never))).code).toBe('MISSING_CONFIG')
    expect((await fault(sessions.setFeedback('s1', { rating: 'up' }, {} as never))).code).toBe('MISSING_CONFIG')
  })
})

describe('design 4.3: a session outside the scope is as one that does not exist', () => {
  const foreign: Scope = { tenant: 'acme', user: 'mallory' }
  it.each<[string, (id: string) => Promise<unknown>]>([
    ['get', (id) => sessions.get(id, { scope: foreign })],
    ['messages', (id) => sessions.messages(id, { scope: foreign })],
    ['setTitle', (id) => sessions.setTitle(id, 'mine', { scope: foreign })],
    ['setFeedback', (id) => sessions.setFeedback(id, { rating: 'up' }, { scope: foreign })],
  ])('%s', async (_name, call) => {
    const hidden = await fault(call('s1'))
    expect(hidden.code).toBe('SESSION_FORBIDDEN')
    const unknown = await fault(call('s9'))
    expect(JSON.stringify(unknown.toJSON()).replaceAll('s9', 's1')).toBe(JSON.stringify(hidden.toJSON()))
    expect((await sessions.get('s1', { scope: petra })).title).toBeNull()
    expect((await sessions.get('s1', { scope: petra })).feedbackRating).toBeNull()
  })

  it('S-35: neither setter creates a header', async () => {
    await fault(sessions.setTitle('s9', 'x', { scope: 'all' }))
    await fault(sessions.setFeedback('s9', { rating: 'up' }, { scope: 'all' }))
    expect(await store.sessions.get('s9')).toBeUndefined()
  })
})

describe('sessions.messages', () => {
  const turn: Message[] = [
    { role: 'user', content: [{ type: 'text', text: 'go' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'secret' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'fine' }] },
  ]
  beforeEach(async () => {
    const target = { sessionId: 's1', executionId: 'x1', agentCode: 'a', ids: createIds(() => 0), at: 0 }
    await store.messages.append('s1', toRows(turn, { ...target, withheld: (index) => index === 1 }))
  })

  it('S-29, S-37: gives the transcript in seq order, without what a gate took back', async () => {
    const page = await sessions.messages('s1', { scope: petra })
    expect(page.items.map((row) => [row.seq, row.content])).toEqual([
      [1, 'go'],
      [3, 'fine'],
    ])
    expect(page.next).toBeNull()
  })

  it('what a gate took back is kept in the record and given on request', async () => {
    const page = await sessions.messages('s1', { scope: petra, withheld: true })
    expect(page.items.map((row) => row.content)).toEqual(['go', 'secret', 'fine'])
  })

  it('S-30: is paged, and the last page says so', async () => {
    const first = await sessions.messages('s1', { scope: petra, withheld: true, limit: 2 })
    expect(first.items.map((row) => row.seq)).toEqual([1, 2])
    const second = await sessions.messages('s1', {
      scope: petra,
      withheld: true,
      limit: 2,
      after: first.next as string,
    })
    expect(second.items.map((row) => row.seq)).toEqual([3])
    expect(second.next).toBeNull()
    expect((await sessions.messages('s1', { scope: petra, limit: 3 })).next).toBeNull()
    expect((await fault(sessions.messages('s1', { scope: petra, after: 'x' }))).code).toBe('INVALID_CONFIG')
  })
})

describe('sessions.setTitle', () => {
  const titled = async (title: string | null) => {
    expect(await sessions.setTitle('s1', title, { scope: petra })).toBe(true)
    return (await sessions.get('s1', { scope: petra })).title
  }

  it('S-31: sets, renames and clears', async () => {
    expect(await titled('  Invoice 4711 \n')).toBe('Invoice 4711')
    expect(await titled('Invoice 4712')).toBe('Invoice 4712')
    expect(await titled(' \t ')).toBeNull()
    expect(await titled('x')).toBe('x')
    expect(await titled(null)).toBeNull()
  })

  it('S-31, CASE-20: longer text is cut at 200 characters and never inside one', async () => {
    expect(await titled('x'.repeat(200))).toBe('x'.repeat(200))
    expect(await titled('x'.repeat(201))).toBe('x'.repeat(200))
    expect(await titled('😀'.repeat(201))).toBe('😀'.repeat(200))
  })

  it('CASE-20: control characters come back as they were given', async () => {
    expect(await titled('a\u0000b\u0007c')).toBe('a\u0000b\u0007c')
    expect((await fault(sessions.setTitle('s1', 'a\ud800', { scope: petra }))).code).toBe('STORE_VALUE_INVALID')
  })

  it('S-35, S-W7: a missing id changes nothing and says so', async () => {
    expect(await sessions.setTitle(null, 'x', { scope: 'all' })).toBe(false)
    expect(await sessions.setTitle(undefined, 'x', { scope: 'all' })).toBe(false)
    expect(await sessions.setFeedback(null, { rating: 'up' }, { scope: 'all' })).toBe(false)
  })

  it('S-35: does not reorder lists', async () => {
    await titled('x')
    const header = await sessions.get('s1', { scope: petra })
    expect(header.lastActivityAt).toBe(1000)
    expect(header.updatedAt).toBe(5000)
  })

  it('anything but text is refused', async () => {
    expect((await fault(sessions.setTitle('s1', 7 as never, { scope: petra }))).code).toBe('INVALID_CONFIG')
  })

  it('S-33: scope all changes a session of any user', async () => {
    expect(await sessions.setTitle('s1', 'by the operator', { scope: 'all' })).toBe(true)
    expect((await sessions.get('s1', { scope: petra })).title).toBe('by the operator')
  })
})

describe('sessions.setFeedback', () => {
  const rated = async (rating: string | null, comment?: string | null) => {
    expect(
      await sessions.setFeedback('s1', { rating, ...(comment === undefined ? {} : { comment }) }, { scope: petra }),
    ).toBe(true)
    const { feedbackRating, feedbackComment, feedbackAt } = await sessions.get('s1', { scope: petra })
    return [feedbackRating, feedbackComment, feedbackAt]
  }

  it('S-32: keeps rating, comment and time, and a later rating replaces all three', async () => {
    expect(await rated('up', ' helpful ')).toEqual(['up', 'helpful', 5000])
    now = 6000
    expect(await rated('down')).toEqual(['down', null, 6000])
  })

  it('S-32: ratings are compared trimmed and in any case', async () => {
    expect(await rated(' UP ')).toEqual(['up', null, 5000])
    expect(await rated('Down')).toEqual(['down', null, 5000])
  })

  it.each([[null], ['stars-5'], [''], ['up!'], ['x'.repeat(100_000)]])(
    'S-32: %.20s withdraws rating, comment and time together',
    async (rating) => {
      await rated('up', 'helpful')
      expect(await rated(rating, 'ignored')).toEqual([null, null, null])
    },
  )

  it('S-32: a comment is cut at 2000 characters, a blank one is none', async () => {
    expect((await rated('up', 'x'.repeat(2001)))[1]).toBe('x'.repeat(2000))
    expect((await rated('up', '  '))[1]).toBeNull()
  })

  it('S-35: does not change the last activity', async () => {
    await rated('up')
    expect((await sessions.get('s1', { scope: petra })).lastActivityAt).toBe(1000)
  })

  it('CASE-19: title and feedback set at once are both kept', async () => {
    await Promise.all([
      sessions.setTitle('s1', 'a title', { scope: petra }),
      sessions.setFeedback('s1', { rating: 'up' }, { scope: petra }),
      open('s1', { user: 'petra.k', tenant: 'acme' }, 7000),
    ])
    expect(await sessions.get('s1', { scope: petra })).toMatchObject({
      title: 'a title',
      feedbackRating: 'up',
      turnCount: 2,
    })
  })
})
