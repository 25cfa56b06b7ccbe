import type { ExecutionRecord, Receipt } from '@sluice/core'

const INDENT = '  '

/** The runs of a tree, each below the one that started it: agent, status, tokens of its own. */
export function showTree(rows: readonly ExecutionRecord[]): readonly string[] {
  const below = (parent: string | null, depth: number): string[] =>
    rows
      .filter((row) => row.parentExecutionId === parent)
      .sort((one, other) => one.startedAt - other.startedAt || (one.id < other.id ? -1 : 1))
      .flatMap((row) => [line(row, depth), ...below(row.id, depth + 1)])
  return below(null, 0)
}

function line(
  { agentCode, agentType, status, inputTokens, outputTokens, iterationCount }: ExecutionRecord,
  depth: number,
) {
  const name = `${INDENT.repeat(depth)}${agentCode}`.padEnd(18)
  const tokens = `${inputTokens ?? '?'} in, ${outputTokens ?? '?'} out`
  const rounds = iterationCount === 0 ? '' : `, ${iterationCount} turns`
  return `${name}${agentType.padEnd(14)}${status.padEnd(11)}${tokens}${rounds}`
}

/** The receipts of a tree: each effect that was guarded, and what its gates said. */
export function showReceipts(receipts: readonly Receipt[]): readonly string[] {
  return receipts.map(({ effect, effectId, outcome, askings }) => {
    const gates = askings.flatMap((asking) => asking.gates)
    const passed = gates.filter((gate) => gate.answer === 'passed').length
    const place = effectId.split('/').slice(1).join('/')
    return `${place.padEnd(26)}${effect.padEnd(12)}${outcome.padEnd(9)}${passed} of ${gates.length} gates passed`
  })
}
