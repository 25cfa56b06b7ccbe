import type { ExecutionRecord, MessageRecord, Receipt } from '@sluice/core'

const INDENT = '  '

/** The runs of a tree, each below the one that started it: agent, status, tokens of its own, calls that it made. */
export function showTree(rows: readonly ExecutionRecord[]): readonly string[] {
  const below = (parent: string | null, depth: number): string[] =>
    rows
      .filter((row) => row.parentExecutionId === parent)
      .sort((one, other) => one.startedAt - other.startedAt || (one.id < other.id ? -1 : 1))
      .flatMap((row) => [line(row, depth), ...below(row.id, depth + 1)])
  return below(null, 0)
}

function line(row: ExecutionRecord, depth: number): string {
  const { agentCode, agentType, status, inputTokens, outputTokens, toolCallsCount } = row
  const name = `${INDENT.repeat(depth)}${agentCode}`.padEnd(14)
  const calls = toolCallsCount === 0 ? '' : `, ${toolCallsCount} calls`
  return `${name}${agentType.padEnd(14)}${status.padEnd(11)}${inputTokens ?? '?'} in, ${outputTokens ?? '?'} out${calls}`
}

/** The tools that were called in a turn, in their order, with what they were given. */
export function showCalls(log: readonly MessageRecord[], executionId: string): readonly string[] {
  return log
    .filter((row) => row.role === 'tool_call' && row.executionId === executionId)
    .map((row) => `${row.agentCode} > ${row.toolName} ${String(row.toolInput)}`)
}

/** The receipts of a tree: each effect that was guarded, and what its gates said. */
export function showReceipts(receipts: readonly Receipt[]): readonly string[] {
  return receipts.map(({ effect, effectId, agentCode, outcome, askings }) => {
    const gates = askings.flatMap((asking) => asking.gates)
    const passed = gates.filter((gate) => gate.answer === 'passed').length
    const place = effectId.split('/').slice(1).join('/')
    return `${place.padEnd(20)}${effect.padEnd(12)}${String(agentCode).padEnd(10)}${outcome.padEnd(9)}${passed} of ${gates.length} gates passed`
  })
}
