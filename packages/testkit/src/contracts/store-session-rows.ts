import assert from 'node:assert/strict'
import type { SessionRecord, Store } from '@sluice/core'
import { drain } from '../time/drain.js'
import type { ContractRow } from './contract-row.js'
import type { MakeStoreRow } from './store-rig.js'
import { messageRow, plain, refused, rejectsWith, sessionRow, upTo } from './store-rig.js'

/** Headers of sessions, their turns, and the message log. */
export function storeSessionRows(row: MakeStoreRow): readonly ContractRow[] {
  return [
    row('S-25: the header of a session is made and changed by its latest state', async (store) => {
      assert.equal(await store.sessions.get('s'), undefined)
      const made = await store.sessions.update('s', (current) => {
        assert.equal(current, undefined)
        return sessionRow('s')
      })
      assert.deepEqual(plain(made), plain(sessionRow('s')))
      await store.sessions.update('s', (current) => ({ ...(current as SessionRecord), title: 'Invoices' }))
      const left = await store.sessions.update('s', () => undefined)
      assert.equal(left?.title, 'Invoices')
      assert.deepEqual(plain(await store.sessions.get('s')), plain(sessionRow('s', { title: 'Invoices' })))
      assert.equal(await store.sessions.update('none', () => undefined), undefined)
      assert.equal(await store.sessions.get('none'), undefined)
    }),

    row('a callback on a header that throws, or returns something else, writes nothing', async (store) => {
      await store.sessions.update('s', () => sessionRow('s'))
      const reason = new Error('no')
      await rejectsWith(reason, () =>
        store.sessions.update('s', () => {
          throw reason
        }),
      )
      const late = (async () => sessionRow('s', { title: 'late' })) as unknown as () => SessionRecord
      await refused('STORE_CALLBACK', () => store.sessions.update('s', late))
      await refused('STORE_CALLBACK', () => store.sessions.update('s', () => sessionRow('other')))
      assert.deepEqual(plain(await store.sessions.get('s')), plain(sessionRow('s')))
      assert.equal(await store.sessions.get('other'), undefined)
    }),

    row('CASE-19: 20 changes of one header at once are each made once', async (store) => {
      await store.sessions.update('s', () => sessionRow('s', { turnCount: 0 }))
      await Promise.all(
        upTo(20).map(() =>
          store.sessions.update('s', (current) => ({
            ...(current as SessionRecord),
            turnCount: (current?.turnCount ?? 0) + 1,
          })),
        ),
      )
      assert.equal((await store.sessions.get('s'))?.turnCount, 20)
    }),

    row('S-29: sessions are listed newest activity first, by tenant and user, in pages', async (store) => {
      for (const index of upTo(12)) {
        const id = `s${String(index).padStart(2, '0')}`
        const tenant = index % 3 === 0 ? null : 'acme'
        const createdBy = index % 2 === 0 ? 'petra.k' : 'bo'
        const fields = { lastActivityAt: 1_000 + Math.floor(index / 2), tenant, createdBy }
        await store.sessions.update(id, () => sessionRow(id, fields))
      }
      const all = upTo(12).map((index) => `s${String(11 - index).padStart(2, '0')}`)
      assert.deepEqual(await idsOf(store), all)
      assert.deepEqual(
        (await store.sessions.list({ tenant: null })).items.map(({ sessionId }) => sessionId),
        ['s09', 's06', 's03', 's00'],
      )
      assert.deepEqual(
        (await store.sessions.list({ tenant: 'acme', createdBy: 'bo' })).items.map(({ sessionId }) => sessionId),
        ['s11', 's07', 's05', 's01'],
      )
      await store.sessions.update('s00', (current) => ({ ...(current as SessionRecord), lastActivityAt: 5_000 }))
      await store.sessions.update('s05', (current) => ({ ...(current as SessionRecord), title: 'No activity' }))
      const next = ['s00', ...all.slice(0, -1)]
      assert.deepEqual(await idsOf(store), next)
      const seen: string[] = []
      let after: string | undefined
      do {
        const page = await store.sessions.list({ limit: 5, ...(after === undefined ? {} : { after }) })
        seen.push(...page.items.map(({ sessionId }) => sessionId))
        after = page.next ?? undefined
      } while (after !== undefined)
      assert.deepEqual(seen, next)
    }),

    row('S-37: the message log numbers its rows from 1 without gaps', async (store) => {
      assert.equal(await store.messages.count('s'), 0)
      assert.deepEqual(await store.messages.list('s'), [])
      assert.equal(await store.messages.append('s', [messageRow('s', 'a'), messageRow('s', 'b')]), 2)
      assert.equal(await store.messages.append('s', []), 2)
      assert.equal(await store.messages.append('s', [messageRow('s', 'c')]), 3)
      assert.equal(await store.messages.append('other', [messageRow('other', 'x')]), 1)
      const rows = await store.messages.list('s')
      assert.deepEqual(
        plain(rows),
        plain(['a', 'b', 'c'].map((content, index) => ({ ...messageRow('s', content), seq: index + 1 }))),
      )
      assert.equal(await store.messages.count('s'), 3)
    }),

    row('the message log is read from any number on, any number of rows', async (store) => {
      const rows = upTo(30).map((index) => messageRow('s', `m${index + 1}`))
      await store.messages.append('s', rows.slice(0, 17))
      await store.messages.append('s', rows.slice(17))
      const read = async (options: { afterSeq?: number; limit?: number }) =>
        (await store.messages.list('s', options)).map(({ seq, content }) => {
          assert.equal(content, `m${seq}`)
          return seq
        })
      assert.deepEqual(
        await read({}),
        upTo(30).map((index) => index + 1),
      )
      assert.deepEqual(await read({ afterSeq: 28 }), [29, 30])
      assert.deepEqual(await read({ afterSeq: 15, limit: 4 }), [16, 17, 18, 19])
      assert.deepEqual(await read({ afterSeq: 30 }), [])
      assert.deepEqual(await read({ limit: 0 }), [])
      await refused('INVALID_CONFIG', () => store.messages.list('s', { afterSeq: -1 }))
      await refused('INVALID_CONFIG', () => store.messages.list('s', { limit: 0.5 }))
    }),

    row('CASE-19: 25 appends at once, of two rows each, are each there once and together', async (store) => {
      await Promise.all(
        upTo(25).map((caller) =>
          store.messages.append('s', [messageRow('s', `${caller} a`), messageRow('s', `${caller} b`)]),
        ),
      )
      const rows = await store.messages.list('s')
      assert.deepEqual(
        rows.map(({ seq }) => seq),
        upTo(50).map((index) => index + 1),
      )
      const contents = rows.map(({ content }) => content as string)
      for (const caller of upTo(25)) {
        const at = contents.indexOf(`${caller} a`)
        assert.equal(contents[at + 1], `${caller} b`)
      }
      assert.equal(new Set(contents).size, 50)
    }),

    row('rows are appended all or none', async (store) => {
      await store.messages.append('s', [messageRow('s', 'a')])
      await refused('STORE_VALUE_INVALID', () =>
        store.messages.append('s', [messageRow('s', 'b'), messageRow('s', '\ud800')]),
      )
      await refused('STORE_KEY_INVALID', () =>
        store.messages.append('s', [messageRow('s', 'b'), messageRow('other', 'c')]),
      )
      assert.equal(await store.messages.count('s'), 1)
      assert.equal(await store.messages.count('other'), 0)
      assert.equal(await store.messages.append('s', [messageRow('s', 'b')]), 2)
    }),

    row('CASE-19: the turn of a session has one holder; others wait in line or are refused', async (store) => {
      const first = await store.sessions.acquire('s', 'run-1', { wait: false })
      await refused('SESSION_BUSY', () => store.sessions.acquire('s', 'run-2', { wait: false }))
      const order: string[] = []
      const second = store.sessions.acquire('s', 'run-2', { wait: true }).then((release) => {
        order.push('run-2')
        return release
      })
      const third = store.sessions.acquire('s', 'run-3', { wait: true }).then((release) => {
        order.push('run-3')
        return release
      })
      const elsewhere = await store.sessions.acquire('other', 'run-4', { wait: false })
      await elsewhere()
      await drain()
      assert.deepEqual(order, [])
      await first()
      await first()
      const release = await second
      await drain()
      assert.deepEqual(order, ['run-2'])
      await release()
      await (await third)()
      assert.deepEqual(order, ['run-2', 'run-3'])
      await (await store.sessions.acquire('s', 'run-5', { wait: false }))()
    }),

    row('a signal ends the waiting for a turn with its reason, and the line goes on', async (store) => {
      const first = await store.sessions.acquire('s', 'run-1', { wait: true })
      const reason = new Error('enough')
      await rejectsWith(reason, () =>
        store.sessions.acquire('s', 'run-2', { wait: true, signal: AbortSignal.abort(reason) }),
      )
      const controller = new AbortController()
      const second = store.sessions.acquire('s', 'run-2', { wait: true, signal: controller.signal })
      const third = store.sessions.acquire('s', 'run-3', { wait: true })
      await drain()
      controller.abort(reason)
      await rejectsWith(reason, () => second)
      await first()
      await (await third)()
      await (await store.sessions.acquire('s', 'run-4', { wait: false }))()
    }),
  ]
}

async function idsOf(store: Store): Promise<string[]> {
  return (await store.sessions.list()).items.map(({ sessionId }) => sessionId)
}
