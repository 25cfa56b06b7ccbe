import { currentFrame } from './frame.js'

/** Where the code that asks is executing. All fields are `null` outside an agent run; `runContext` is then empty. */
export interface ExecutionContext {
  readonly agentId: string | null
  readonly agentCode: string | null
  readonly executionId: string | null
  readonly rootExecutionId: string | null
  readonly depth: number
  readonly sessionId: string | null
  readonly requestId: string | null
  readonly createdBy: string | null
  readonly runContext: Readonly<Record<string, string | number | boolean>>
}

const EMPTY: Readonly<Record<string, never>> = Object.freeze({})
const NOWHERE: ExecutionContext = Object.freeze({
  agentId: null,
  agentCode: null,
  executionId: null,
  rootExecutionId: null,
  depth: 0,
  sessionId: null,
  requestId: null,
  createdBy: null,
  runContext: EMPTY,
})

/**
 * The execution context of the innermost run, of any runtime. It is filled from the moment the execution record exists: in
 * tools, tool gates and the prompt hook, not in `beforeExecution` (H-17). Reading it never throws.
 */
export function getExecutionContext(): ExecutionContext {
  const frame = currentFrame()
  if (frame === undefined) return NOWHERE
  const run = frame.run
  if (run === undefined)
    return frame.requestId === undefined ? NOWHERE : Object.freeze({ ...NOWHERE, requestId: frame.requestId })
  return Object.freeze({
    agentId: run.agentId,
    agentCode: run.agentCode,
    executionId: run.executionId,
    rootExecutionId: run.rootExecutionId,
    depth: run.depth,
    sessionId: run.sessionId,
    requestId: frame.requestId ?? null,
    createdBy: run.createdBy,
    runContext: run.runContext,
  })
}

/** Id of the `generateText` call that the code runs in (E-16); `null` outside one. */
export function currentRequestId(): string | null {
  return currentFrame()?.requestId ?? null
}
