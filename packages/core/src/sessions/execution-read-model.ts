import { SluiceError } from '../errors/sluice-error.js'
import type { Receipt } from '../hooks/receipt.js'
import { escapeControl } from '../internal/escape-text.js'
import type { ExecutionRecord, ExecutionStatus, ToolErrorRecord } from '../store/records.js'
import type {
  ExecutionFilter,
  ExecutionRepository,
  Page,
  PageRequest,
  ReceiptRepository,
  ToolErrorRepository,
} from '../store/store.js'
import type { Scope } from './scope.js'
import { inScope, parseScope, storeFilter } from './scope.js'
import type { Scoped } from './session-read-model.js'

/** Filter of a list of executions; times are dates or milliseconds since the epoch, both ends inclusive. */
export interface ExecutionListRequest extends Scoped, PageRequest {
  readonly sessionId?: string
  readonly agentCode?: string
  readonly agentId?: string
  readonly rootExecutionId?: string
  readonly status?: ExecutionStatus
  readonly startedFrom?: Date | number
  readonly startedTo?: Date | number
  /** Only top-level runs, only nested ones, or both (default). */
  readonly level?: 'top' | 'nested'
}

/** `runtime.executions`: runs, their receipts and the true errors behind error references. */
export interface Executions {
  /** One run with everything recorded about it (S-29). @throws NOT_FOUND, also for one outside the scope */
  get(executionId: string, request: Scoped): Promise<ExecutionRecord>
  /** Runs, newest first. */
  list(request: ExecutionListRequest): Promise<Page<ExecutionRecord>>
  /**
   * All receipts of a tree, in the order in which its effects were closed. The id of a plain call (outside any run) names no
   * record: its receipts are seen by the scope of its tenant, or `'all'`. @throws NOT_FOUND
   */
  receipts(rootExecutionId: string, request: Scoped): Promise<readonly Receipt[]>
  /** The error behind a reference (`ERR-...`) that a model or user was given. @throws NOT_FOUND */
  toolError(reference: string, request: Scoped): Promise<ToolErrorRecord>
}

/** What the read model works on. */
export interface ExecutionReadModelStore {
  readonly executions: Pick<ExecutionRepository, 'get' | 'list'>
  readonly receipts: Pick<ReceiptRepository, 'list'>
  readonly toolErrors: Pick<ToolErrorRepository, 'get'>
}

const STATUSES: readonly unknown[] = ['running', 'paused', 'completed', 'failed', 'timeout', 'aborted']

/** Makes `runtime.executions`. What lies outside the scope is as what does not exist. */
export function createExecutionReadModel({ store }: { readonly store: ExecutionReadModelStore }): Executions {
  async function visible(executionId: string, scope: Scope): Promise<ExecutionRecord | undefined> {
    const record = await store.executions.get(executionId)
    return record !== undefined && inScope(record, scope) ? record : undefined
  }

  /** A record that knows its tenant only: under a scope with a user, the run that it belongs to decides. */
  async function seesTenantOf(tenant: string | null, executionId: string | null, scope: Scope): Promise<boolean> {
    if (scope === 'all') return true
    if (scope.user === undefined) return tenant === scope.tenant
    return executionId !== null && (await visible(executionId, scope)) !== undefined
  }

  return Object.freeze({
    async get(executionId, request) {
      const record = await visible(executionId, parseScope(request?.scope))
      if (record === undefined) throw notFound('execution', executionId)
      return record
    },
    async list(request) {
      const scope = parseScope(request?.scope)
      const page = await store.executions.list(toFilter(request, scope))
      return { items: page.items.filter((record) => inScope(record, scope)), next: page.next }
    },
    async receipts(rootExecutionId, request) {
      const scope = parseScope(request?.scope)
      const [root, stored] = await Promise.all([
        store.executions.get(rootExecutionId),
        store.receipts.list(rootExecutionId),
      ])
      const receipts = stored as unknown as readonly Receipt[]
      const first = receipts[0]
      const seen =
        root !== undefined
          ? inScope(root, scope)
          : first !== undefined && (await seesTenantOf(first.tenant, null, scope))
      if (!seen) throw notFound('execution', rootExecutionId)
      return receipts
    },
    async toolError(reference, request) {
      const scope = parseScope(request?.scope)
      const record = await store.toolErrors.get(reference)
      if (record === undefined || !(await seesTenantOf(record.tenant, record.executionId, scope))) {
        throw notFound('error reference', reference)
      }
      return record
    },
  } satisfies Executions)
}

const FILTERS = ['sessionId', 'agentCode', 'agentId', 'rootExecutionId', 'status', 'level', 'limit', 'after'] as const

function toFilter(request: ExecutionListRequest, scope: Scope): ExecutionFilter {
  const { status, startedFrom, startedTo } = request
  if (status !== undefined && !STATUSES.includes(status)) {
    throw new SluiceError('INVALID_STATUS', `'${escapeControl(String(status), 100)}' is no status of an execution.`, {
      hint: `Use one of ${STATUSES.join(', ')}.`,
    })
  }
  const filter: Record<string, unknown> = { ...storeFilter(scope) }
  for (const key of FILTERS) if (request[key] !== undefined) filter[key] = request[key]
  if (startedFrom !== undefined) filter.startedFrom = toTime('startedFrom', startedFrom)
  if (startedTo !== undefined) filter.startedTo = toTime('startedTo', startedTo)
  return filter
}

function toTime(name: string, time: Date | number): number {
  const at = Number(time)
  if (Number.isFinite(at)) return at
  throw new SluiceError(
    'INVALID_CONFIG',
    `${name} must be a date or a finite number of milliseconds since the epoch.`,
    {
      reason: 'filter.time',
    },
  )
}

function notFound(what: string, id: string): SluiceError<'NOT_FOUND'> {
  return new SluiceError('NOT_FOUND', `There is no ${what} '${escapeControl(id, 200)}' in this scope.`, {
    hint: 'Check the id and the scope.',
  })
}
