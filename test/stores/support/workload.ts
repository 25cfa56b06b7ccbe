import assert from 'node:assert/strict'
import type { JsonValue, Store } from '@sluice/core'
import { executionRow, messageRow, sessionRow } from './rows.js'

/** What is known of the writes of a workload: `begun` ones were asked for, `acknowledged` ones were promised. */
export interface Known {
  readonly begun: ReadonlySet<number>
  readonly acknowledged: ReadonlySet<number>
}

/** How many kinds of writes {@link write} knows. */
export const KINDS = 8

/** Keys of the two documents that every transaction of the workload writes together. */
const PAIR = ['left', 'right'] as const

/** Write number `number` of a workload: its kind and its place follow from the number alone. */
export async function write(store: Store, number: number): Promise<void> {
  const session = `session-${number % 7}`
  switch (number % KINDS) {
    case 0:
      await store.messages.append(session, [messageRow(session, `a ${number}`), messageRow(session, `b ${number}`)])
      break
    case 1:
      await store.documents('workload').put(['n', String(number)], { number })
      break
    case 2:
      await store.log('workload').append('stream', () => [`a ${number}`, `b ${number}`])
      break
    case 3:
      await store.executions.insert(executionRow(`run-${number}`))
      break
    case 4:
      // of the run that was inserted the write before
      await store.executions.update(`run-${number - 1}`, { status: 'completed', output: number })
      break
    case 5:
      await store.receipts.append('run-3', [
        { number, half: 'a' },
        { number, half: 'b' },
      ])
      break
    case 6:
      await store.sessions.update(session, () => sessionRow(session, { title: String(number), lastActivityAt: number }))
      break
    default:
      await store.transaction(async (transaction) => {
        for (const side of PAIR) await transaction.documents(side).put(['pair'], number)
        await transaction.documents('pairs').put([String(number)], number)
      })
  }
}

/** Checks that everything that was promised is there, and that nothing is half there or was never asked for. */
export async function checkWrites(store: Store, known: Known): Promise<void> {
  await checkMessages(store, known)
  await checkDocuments(store, known)
  await checkLog(store, known)
  await checkRuns(store, known)
  await checkSessions(store, known)
}

async function checkMessages(store: Store, known: Known): Promise<void> {
  const found: number[] = []
  for (let index = 0; index < 7; index++) {
    const rows = await store.messages.list(`session-${index}`)
    assert.deepEqual(
      rows.map(({ seq }) => seq),
      rows.map((_, place) => place + 1),
    )
    found.push(...wholePairs(rows.map(({ content }) => content as string)))
  }
  compare('messages', found, known, 0)
}

async function checkDocuments(store: Store, known: Known): Promise<void> {
  const documents = await allOf(store, 'workload', ['n'])
  for (const [key, value] of documents) assert.deepEqual({ ...(value as object) }, { number: Number(key) })
  compare(
    'documents',
    documents.map(([key]) => Number(key)),
    known,
    1,
  )
  const pairs = (await allOf(store, 'pairs', [])).map(([key]) => Number(key))
  compare('transactions', pairs, known, 7)
  const [left, right] = await Promise.all(PAIR.map((side) => store.documents(side).get(['pair'])))
  assert.equal(left, right, 'half a transaction is there')
  assert.equal(left, pairs.length === 0 ? undefined : Math.max(...pairs))
}

async function checkLog(store: Store, known: Known): Promise<void> {
  const entries = await store.log('workload').read('stream')
  assert.deepEqual(
    entries.map(({ index }) => index),
    entries.map((_, place) => place),
  )
  compare('log entries', wholePairs(entries.map(({ value }) => value as string)), known, 2)
}

async function checkRuns(store: Store, known: Known): Promise<void> {
  const runs: number[] = []
  const completed: number[] = []
  let after: string | undefined
  do {
    const page = await store.executions.list({ limit: 1_000, ...(after === undefined ? {} : { after }) })
    for (const { id, status, output } of page.items) {
      const number = Number(id.slice('run-'.length))
      runs.push(number)
      if (status === 'running') continue
      assert.equal(output, number + 1)
      completed.push(number + 1)
    }
    after = page.next ?? undefined
  } while (after !== undefined)
  compare('runs', runs, known, 3)
  compare('completed runs', completed, known, 4)
  const receipts = await store.receipts.list('run-3')
  compare('receipts', wholePairs(receipts.map(({ half, number }) => `${String(half)} ${String(number)}`)), known, 5)
}

async function checkSessions(store: Store, known: Known): Promise<void> {
  for (let index = 0; index < 7; index++) {
    const header = await store.sessions.get(`session-${index}`)
    const isOfSession = (number: number) => number % KINDS === 6 && number % 7 === index
    const promised = [...known.acknowledged].filter(isOfSession)
    const asked = [...known.begun].filter(isOfSession)
    if (header === undefined) {
      assert.equal(promised.length, 0, `the header of session ${index} is gone`)
      continue
    }
    const title = Number(header.title)
    assert.ok(asked.includes(title))
    assert.ok(title >= Math.max(-1, ...promised), `the header of session ${index} went back`)
  }
  const listed = (await store.sessions.list()).items.map(({ lastActivityAt }) => lastActivityAt)
  assert.deepEqual(
    listed,
    listed.toSorted((left, right) => right - left),
  )
}

function compare(what: string, found: readonly number[], known: Known, kind: number): void {
  const seen = new Set(found)
  assert.equal(seen.size, found.length, `${what}: something is there twice`)
  for (const number of seen) assert.ok(known.begun.has(number), `${what}: ${number} was never asked for`)
  for (const number of known.acknowledged) {
    if (number % KINDS === kind) assert.ok(seen.has(number), `${what}: ${number} was acknowledged and is gone`)
  }
}

/** Numbers of the writes of two items each; both are there, one behind the other. */
function wholePairs(texts: readonly string[]): number[] {
  const numbers: number[] = []
  for (let index = 0; index < texts.length; index += 2) {
    const number = Number(texts[index]?.slice(2))
    assert.deepEqual(texts.slice(index, index + 2), [`a ${number}`, `b ${number}`])
    numbers.push(number)
  }
  return numbers
}

async function allOf(store: Store, namespace: string, prefix: readonly string[]): Promise<[string, JsonValue][]> {
  const found: [string, JsonValue][] = []
  let after: string | undefined
  do {
    const page = await store
      .documents(namespace)
      .list(prefix, { limit: 1_000, ...(after === undefined ? {} : { after }) })
    for (const { key, value } of page.items) found.push([key.at(-1) as string, value])
    after = page.next ?? undefined
  } while (after !== undefined)
  return found
}
