import assert from 'node:assert/strict'
import type { Store } from '@sluice/core'
import type { ContractRow } from './contract-row.js'
import type { MakeStoreRow } from './store-rig.js'
import { definitionRow, executionRow, messageRow, plain, refused, sessionRow, toolErrorRow, upTo } from './store-rig.js'

/** Strings that some database refuses, and that every store has to keep (CASE-20). */
const TEXTS: Readonly<Record<string, string>> = {
  'U+0000': 'before\0after',
  'the six characters \\u0000': 'literally \\u0000, not NUL; \\ud800 too',
  'all control characters': String.fromCharCode(...upTo(32), 127, ...upTo(32).map((unit) => unit + 128)),
  'line separators and marks': '\u2028\u2029\u200e\u202e\ufeff\ufffe\uffff',
  'text beyond the basic plane': 'a\u{1f9fe}b\u{10ffff}e\u0301\u00e9',
  'quotes, backslashes, markup': `'"\`\\ \${x} {x} <b> %s %00 '; drop table x; --`,
  'an empty text': '',
}

/** Unpaired surrogates: no database takes them, so every store refuses them (CASE-20). */
const UNPAIRED: readonly string[] = ['\ud800', 'a\udc00b', '\udc00\ud800', 'end \ud83d']

/** Columns of a run that hold a number or nothing. */
const NUMBERS: readonly string[] = ['turnIndex', 'inputTokens', 'outputTokens', 'completedAt']

/** Values with an unpaired surrogate that a column of this kind could be given; none where it holds a number. */
function damaged(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return [['\ud800']]
  if (typeof value === 'object' && value !== null) return [{ deep: ['\ud800'] }, { '\ud800': 1 }]
  return value === null || typeof value === 'string' ? ['\ud800', { deep: '\ud800' }] : []
}

/** Ids that every store takes and keeps apart, none of which may become a path (CASE-21). */
const IDS: readonly string[] = [
  '.',
  '..',
  '../x',
  '../../x',
  '/x',
  '/etc/passwd',
  'a/b',
  'a\\b',
  'C:x',
  'C:\\x',
  'CON',
  'con',
  'nul.json',
  'a.json',
  'a.jsonl',
  '%2e%2e%2f',
  'a\0b',
  'Case',
  'case',
  'CASE',
  '\u00e9',
  'e\u0301',
  'a:b',
  'a?b',
  'a*b',
  'a|b',
  'a<b',
  'trailing.',
  'trailing ',
  ' ',
  '~',
  '$HOME',
  'line\nbreak',
  '__proto__',
  'constructor',
  'x'.repeat(1_000),
]

/** Ids that every store refuses in the same way. */
const REFUSED_IDS: readonly string[] = ['', 'x'.repeat(1_001), 'x'.repeat(4_000), '\ud800']

/** Texts and ids, the odd ones. */
export function storeTextRows(row: MakeStoreRow): readonly ContractRow[] {
  return [
    ...Object.entries(TEXTS).map(([name, text]) =>
      row(`CASE-20: ${name} comes back as it was given, everywhere`, async (store) => {
        await writeText(store, text)
        await checkText(store, text)
      }),
    ),

    row('CASE-20: 5 MB of text come back as they were given', async (store) => {
      const text = `${'0123456789abcde\u{1f9fe}'.repeat(300_000)}end`
      await store.documents('a').put(['x'], { text })
      await store.messages.append('s', [messageRow('s', text)])
      await store.executions.insert(executionRow('run-1', { output: { text } }))
      assert.ok(((await store.documents('a').get(['x'])) as { text: string }).text === text)
      assert.ok((await store.messages.list('s'))[0]?.content === text)
      assert.ok(((await store.executions.get('run-1'))?.output as { text: string }).text === text)
    }),

    row(
      'CASE-20: an unpaired surrogate is refused at the same border everywhere, and loses nothing else',
      async (store) => {
        for (const text of UNPAIRED) {
          const documents = store.documents('a')
          await refused('STORE_VALUE_INVALID', () => documents.put(['x'], { deep: [text] }))
          await refused('STORE_VALUE_INVALID', () => documents.put(['x'], { [text]: 1 }))
          await refused('STORE_VALUE_INVALID', () => documents.update(['x'], () => text))
          await refused('STORE_KEY_INVALID', () => documents.put([text], 1))
          await refused('STORE_VALUE_INVALID', () => store.log('a').append('s', () => ['fine', text]))
          await refused('STORE_VALUE_INVALID', () => store.messages.append('s', [messageRow('s', text)]))
          const part = { kind: 'file', names: [text] }
          await refused('STORE_VALUE_INVALID', () => store.messages.append('s', [messageRow('s', 'a', { part })]))
          await refused('STORE_VALUE_INVALID', () => store.sessions.update('s', () => sessionRow('s', { title: text })))
          await refused('STORE_VALUE_INVALID', () => store.toolErrors.insert(toolErrorRow('ERR-1', text)))
          await refused('STORE_VALUE_INVALID', () => store.receipts.append('r', [{ gates: [{ code: text }] }]))
          await refused('STORE_VALUE_INVALID', () => store.journals.put('r', { entries: [text] }))
          await refused('STORE_VALUE_INVALID', () => store.executions.insert(executionRow('run-1', { output: text })))
          await refused('STORE_VALUE_INVALID', () =>
            store.agents.insert(definitionRow('d1', 'desk', { definition: { description: text } })),
          )
        }
        assert.equal(await store.messages.append('s', [messageRow('s', 'the rest of the turn')]), 1)
        await store.executions.insert(executionRow('run-1'))
        await refused('STORE_VALUE_INVALID', () => store.executions.update('run-1', { followUp: '\ud800' }))
        await refused('STORE_VALUE_INVALID', () => store.executions.transition('run-1', () => ({ output: ['\udc00'] })))
        await store.executions.update('run-1', { output: 'Done.' })
        assert.equal((await store.executions.get('run-1'))?.output, 'Done.')
        assert.deepEqual(await store.log('a').read('s'), [])
        assert.deepEqual((await store.documents('a').list([])).items, [])
      },
    ),

    row('CASE-20: no column of a run or of the message log takes an unpaired surrogate', async (store) => {
      const run = executionRow('run-1')
      for (const column of Object.keys(run).filter((name) => name !== 'id' && !NUMBERS.includes(name))) {
        for (const value of damaged(run[column as keyof typeof run])) {
          await refused('STORE_VALUE_INVALID', () => store.executions.insert({ ...run, [column]: value }), column)
        }
      }
      const message = messageRow('s', 'text')
      for (const column of Object.keys(message).filter((name) => name !== 'sessionId')) {
        for (const value of damaged(message[column as keyof typeof message])) {
          await refused(
            'STORE_VALUE_INVALID',
            () => store.messages.append('s', [{ ...message, [column]: value }]),
            column,
          )
        }
      }
      assert.equal(await store.messages.count('s'), 0)
    }),

    row('CASE-21: every id is found under exactly its own name', async (store) => {
      await Promise.all(IDS.map((id) => writeUnder(store, id)))
      for (const id of IDS) await checkUnder(store, id)
      const sessions = await store.sessions.list({ limit: 1_000 })
      assert.deepEqual(sessions.items.map(({ sessionId }) => sessionId).toSorted(), IDS.toSorted())
      const runs = await store.executions.list({ limit: 1_000 })
      assert.deepEqual(runs.items.map((run) => run.id).toSorted(), IDS.toSorted())
      const documents = await store.documents('ids').list([], { limit: 1_000 })
      assert.deepEqual(documents.items.map(({ key }) => key[0]).toSorted(), IDS.toSorted())
      assert.deepEqual(await store.log('ids').streams(), IDS.toSorted())
    }),

    row('CASE-21: an id is deleted under exactly its own name', async (store) => {
      await Promise.all(IDS.map((id) => store.documents('ids').put([id], id)))
      await Promise.all(IDS.map((id) => store.journals.put(id, { id })))
      for (const [index, id] of IDS.entries()) {
        assert.equal(await store.documents('ids').delete([id]), true, id)
        await store.journals.delete(id)
        const left = await store.documents('ids').list([], { limit: 1_000 })
        assert.deepEqual(left.items.map(({ key }) => key[0]).toSorted(), IDS.slice(index + 1).toSorted())
        const next = IDS[index + 1]
        if (next !== undefined) assert.deepEqual(plain(await store.journals.get(next)), { id: next })
      }
    }),

    row('CASE-21: an id that is refused is refused in the same way everywhere', async (store) => {
      for (const id of REFUSED_IDS) {
        const calls: readonly (() => unknown)[] = [
          () => store.sessions.get(id),
          () => store.sessions.update(id, () => sessionRow(id)),
          () => store.sessions.acquire(id, 'run-1', { wait: false }),
          () => store.sessions.acquire('s', id, { wait: false }),
          () => store.messages.append(id, [messageRow(id, 'a')]),
          () => store.messages.list(id),
          () => store.messages.count(id),
          () => store.executions.insert(executionRow(id)),
          () => store.executions.update(id, {}),
          () => store.executions.transition(id, () => undefined),
          () => store.executions.get(id),
          () => store.receipts.append(id, [{}]),
          () => store.receipts.list(id),
          () => store.journals.put(id, {}),
          () => store.journals.get(id),
          () => store.journals.delete(id),
          () => store.toolErrors.insert(toolErrorRow(id)),
          () => store.toolErrors.get(id),
          () => store.agents.insert(definitionRow(id, 'desk')),
          () => store.agents.insert(definitionRow('d1', id)),
          () => store.prompts.get(id),
          () => store.prompts.versions(id),
          () => store.prompts.delete(id),
          () => store.log('a').append(id, () => [1]),
          () => store.log('a').read(id),
          () => store.log('a').tail(id),
        ]
        for (const call of calls) await refused('STORE_KEY_INVALID', call)
      }
    }),
  ]
}

async function writeText(store: Store, text: string): Promise<void> {
  await store.documents('a').put(['x', `key ${text}`], { text, [`property ${text}`]: [text] })
  await store.log('a').append('s', () => [text])
  await store.messages.append('s', [messageRow('s', text, { toolOutput: text, toolInput: text })])
  await store.sessions.update('s', () => sessionRow('s', { title: text, feedbackComment: text }))
  await store.executions.insert(executionRow('run-1', { input: { text }, output: text, followUp: text }))
  await store.toolErrors.insert(toolErrorRow('ERR-1', text))
  await store.receipts.append('run-1', [{ text }])
  await store.journals.put('run-1', { text })
  await store.agents.insert(definitionRow('d1', 'desk', { definition: { description: text } }))
}

async function checkText(store: Store, text: string): Promise<void> {
  const value = { text, [`property ${text}`]: [text] }
  assert.deepEqual(plain(await store.documents('a').get(['x', `key ${text}`])), value)
  assert.deepEqual(plain((await store.documents('a').list(['x'])).items), [{ key: ['x', `key ${text}`], value }])
  assert.equal((await store.log('a').tail('s'))?.value, text)
  const [message] = await store.messages.list('s')
  assert.deepEqual([message?.content, message?.toolOutput, message?.toolInput], [text, text, text])
  const session = await store.sessions.get('s')
  assert.deepEqual([session?.title, session?.feedbackComment], [text, text])
  const run = await store.executions.get('run-1')
  assert.deepEqual([run?.input.text, run?.output, run?.followUp], [text, text, text])
  assert.equal((await store.toolErrors.get('ERR-1'))?.message, text)
  assert.deepEqual(plain(await store.receipts.list('run-1')), [{ text }])
  assert.deepEqual(plain(await store.journals.get('run-1')), { text })
  assert.equal((await store.agents.get('d1'))?.definition.description, text)
}

async function writeUnder(store: Store, id: string): Promise<void> {
  await store.sessions.update(id, () => sessionRow(id, { title: `title of ${id}` }))
  await store.messages.append(id, [messageRow(id, `message of ${id}`)])
  await store.executions.insert(executionRow(id, { output: id }))
  await store.receipts.append(id, [{ id }])
  await store.journals.put(id, { id })
  await store.toolErrors.insert(toolErrorRow(id, `message of ${id}`))
  await store.prompts.insert(definitionRow(id, id))
  await store.documents('ids').put([id], id)
  await store.documents(id).put(['x'], id)
  await store.log('ids').append(id, () => [id])
}

async function checkUnder(store: Store, id: string): Promise<void> {
  assert.equal((await store.sessions.get(id))?.title, `title of ${id}`)
  assert.deepEqual(
    (await store.messages.list(id)).map(({ content }) => content),
    [`message of ${id}`],
  )
  assert.equal((await store.executions.get(id))?.output, id)
  assert.deepEqual(plain(await store.receipts.list(id)), [{ id }])
  assert.deepEqual(plain(await store.journals.get(id)), { id })
  assert.equal((await store.toolErrors.get(id))?.message, `message of ${id}`)
  assert.equal((await store.prompts.get(id))?.code, id)
  assert.equal((await store.prompts.versions(id)).length, 1)
  assert.equal(await store.documents('ids').get([id]), id)
  assert.equal(await store.documents(id).get(['x']), id)
  assert.deepEqual(
    (await store.log('ids').read(id)).map(({ value }) => value),
    [id],
  )
}
