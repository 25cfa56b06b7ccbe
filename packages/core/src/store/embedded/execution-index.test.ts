import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ExecutionFilter } from '../store.js'
import { type ExecutionFields, ExecutionIndex } from './execution-index.js'

const row = fc.record<ExecutionFields>({
  id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
  rootExecutionId: fc.constantFrom('a', 'b'),
  parentExecutionId: fc.constantFrom(null, 'a'),
  sessionId: fc.constantFrom('s', 't'),
  tenant: fc.constantFrom(null, 'acme'),
  createdBy: fc.constantFrom(null, 'bo'),
  agentCode: fc.constantFrom('x', 'y'),
  agentId: fc.constantFrom('1', '2'),
  status: fc.constantFrom('running', 'failed'),
  startedAt: fc.integer({ min: 1, max: 3 }),
})

const filter = fc.record<ExecutionFilter>(
  {
    tenant: fc.constantFrom(null, 'acme'),
    sessionId: fc.constantFrom('s', 't', 'none'),
    rootExecutionId: fc.constantFrom('a', 'b', 'none'),
    agentCode: fc.constantFrom('x', 'y'),
    status: fc.constantFrom('running', 'failed'),
    startedFrom: fc.integer({ min: 1, max: 3 }),
    startedTo: fc.integer({ min: 1, max: 3 }),
    level: fc.constantFrom('top', 'nested'),
  },
  { requiredKeys: [] },
)

function expected(
  rows: Iterable<ExecutionFields>,
  { startedFrom, startedTo, level, ...equal }: ExecutionFilter,
): string[] {
  return [...rows]
    .filter((one) => Object.entries(equal).every(([name, value]) => one[name as keyof ExecutionFields] === value))
    .filter((one) => one.startedAt >= (startedFrom ?? 0) && one.startedAt <= (startedTo ?? 9))
    .filter((one) => level === undefined || (level === 'top') === (one.parentExecutionId === null))
    .sort((left, right) => right.startedAt - left.startedAt || (left.id < right.id ? 1 : -1))
    .map(({ id }) => id)
}

describe('ExecutionIndex', () => {
  it('S-29, S-30: gives what a walk through all rows would give, page by page, however rows change', () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 20 }), filter, fc.integer({ min: 1, max: 3 }), (rows, wanted, limit) => {
        const index = new ExecutionIndex<ExecutionFields>()
        const latest = new Map<string, ExecutionFields>()
        for (const one of rows) {
          index.set(one)
          latest.set(one.id, one)
        }
        const found: string[] = []
        let after: string | null = null
        do {
          const page = index.page({ ...wanted, limit, ...(after === null ? {} : { after }) })
          found.push(...page.items.map(({ id }) => id))
          after = page.next
        } while (after !== null)
        expect(found).toEqual(expected(latest.values(), wanted))
        for (const agentId of ['1', '2']) {
          expect(index.hasAgent(agentId)).toBe([...latest.values()].some((one) => one.agentId === agentId))
        }
      }),
      { numRuns: 1_000 },
    )
  })
})
