import assert from 'node:assert/strict'
import type { ContractRow } from './contract-row.js'
import type { MakeStoreRow } from './store-rig.js'
import { definitionRow, executionRow, plain, refused } from './store-rig.js'

/** Versions of agents and prompt profiles. */
export function storeDefinitionRows(row: MakeStoreRow): readonly ContractRow[] {
  return [
    row('a definition is found by id and among the versions of its code, lowest first', async (store) => {
      for (const repository of [store.agents, store.prompts]) {
        await repository.insert(definitionRow('d3', 'desk', { version: 10 }))
        await repository.insert(definitionRow('d1', 'desk', { version: 1 }))
        await repository.insert(definitionRow('d2', 'desk', { version: 2 }))
        assert.deepEqual(plain(await repository.get('d2')), plain(definitionRow('d2', 'desk', { version: 2 })))
        assert.equal(await repository.get('none'), undefined)
        assert.deepEqual(
          (await repository.versions('desk')).map(({ version }) => version),
          [1, 2, 10],
        )
        assert.deepEqual(await repository.versions('none'), [])
      }
    }),

    row('A-4, P-2: an id, and a code with its version, are there once', async (store) => {
      for (const repository of [store.agents, store.prompts]) {
        await repository.insert(definitionRow('d1', 'desk'))
        await refused('DUPLICATE_NAME', () => repository.insert(definitionRow('d1', 'other')))
        await refused('DUPLICATE_NAME', () => repository.insert(definitionRow('d2', 'desk')))
        await repository.insert(definitionRow('d2', 'desk', { version: 2 }))
        await refused('DUPLICATE_NAME', () => repository.replace(definitionRow('d2', 'desk', { version: 1 })))
        const outcomes = await Promise.allSettled(
          ['a', 'b', 'c'].map((id) => repository.insert(definitionRow(id, 'desk', { version: 3 }))),
        )
        assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
        assert.equal((await repository.versions('desk')).length, 3)
      }
    }),

    row('agents and prompt profiles are two worlds', async (store) => {
      await store.agents.insert(definitionRow('d1', 'desk'))
      await store.prompts.insert(definitionRow('d1', 'desk'))
      assert.equal(await store.agents.delete('d1'), true)
      assert.notEqual(await store.prompts.get('d1'), undefined)
    }),

    row('replace puts a record in the place of another and wants one there', async (store) => {
      await store.agents.insert(definitionRow('d1', 'desk'))
      await store.agents.replace(definitionRow('d1', 'desk', { status: 'archived', updatedBy: 'x' }))
      assert.equal((await store.agents.get('d1'))?.status, 'archived')
      await refused('NOT_FOUND', () => store.agents.replace(definitionRow('d2', 'other')))
      assert.equal(await store.agents.get('d2'), undefined)
    }),

    row('A-20: delete removes one version and nothing else', async (store) => {
      await store.agents.insert(definitionRow('d1', 'desk'))
      await store.agents.insert(definitionRow('d2', 'desk', { version: 2 }))
      assert.equal(await store.agents.delete('d1'), true)
      assert.equal(await store.agents.delete('d1'), false)
      assert.deepEqual(
        (await store.agents.versions('desk')).map(({ id }) => id),
        ['d2'],
      )
    }),

    row('list gives all records by code and version, of one status, in pages', async (store) => {
      for (const code of ['b', 'a', 'c']) {
        for (const version of [2, 1, 10]) {
          const status = version === 2 ? 'active' : 'draft'
          await store.prompts.insert(definitionRow(`${code}${version}`, code, { version, status }))
        }
      }
      const ids = ['a1', 'a2', 'a10', 'b1', 'b2', 'b10', 'c1', 'c2', 'c10']
      assert.deepEqual(
        (await store.prompts.list()).items.map(({ id }) => id),
        ids,
      )
      const seen: string[] = []
      let after: string | undefined
      do {
        const page = await store.prompts.list({ limit: 4, ...(after === undefined ? {} : { after }) })
        seen.push(...page.items.map(({ id }) => id))
        after = page.next ?? undefined
      } while (after !== undefined)
      assert.deepEqual(seen, ids)
      const active = await store.prompts.list({ status: 'active' })
      assert.deepEqual(
        active.items.map(({ id }) => id),
        ['a2', 'b2', 'c2'],
      )
    }),

    row('a definition is a snapshot', async (store) => {
      const tools = ['a']
      const record = definitionRow('d1', 'desk', { definition: { tools } })
      await store.agents.insert(record)
      tools.push('b')
      assert.deepEqual(plain((await store.agents.get('d1'))?.definition), { tools: ['a'] })
    }),

    row('A-5: an agent has one active version at most; P-3: a prompt profile may have several', async (store) => {
      const active = (id: string, version: number) => definitionRow(id, 'desk', { version, status: 'active' })
      await store.prompts.insert(active('p1', 1))
      await store.prompts.insert(active('p2', 2))
      await store.agents.insert(active('d1', 1))
      await refused('DUPLICATE_NAME', () => store.agents.insert(active('d2', 2)))
      await store.agents.insert(definitionRow('d2', 'desk', { version: 2 }))
      await refused('DUPLICATE_NAME', () => store.agents.replace(active('d2', 2)))
      await store.transaction(async (transaction) => {
        await transaction.agents.replace(active('d2', 2))
        await transaction.agents.replace(definitionRow('d1', 'desk', { status: 'archived' }))
      })
      assert.deepEqual(
        (await store.agents.versions('desk')).map(({ status }) => status),
        ['archived', 'active'],
      )
    }),

    row('A-21: an agent that has runs is not deleted', async (store) => {
      await store.agents.insert(definitionRow('d1', 'desk'))
      await store.agents.insert(definitionRow('d2', 'desk', { version: 2 }))
      await store.executions.insert(executionRow('run-1', { agentId: 'd1' }))
      await refused('HAS_HISTORY', () => store.agents.delete('d1'))
      await refused('HAS_HISTORY', () => store.transaction((transaction) => transaction.agents.delete('d1')))
      assert.equal(await store.agents.delete('d2'), true)
      assert.notEqual(await store.agents.get('d1'), undefined)
    }),
  ]
}
