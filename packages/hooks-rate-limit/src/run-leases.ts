import type { DocumentKey, JsonObject, JsonValue, RunState } from '@sluice/core'

/** Where the slot of a run stands: it is renewed by gates of nested agents too, which would count under other keys. */
export interface RunLease {
  readonly id: string
  /** Elapsed-time reading of the last renewal. */
  readonly at: number
  readonly places: readonly { readonly limit: string; readonly key: DocumentKey }[]
}

/** The slot of a call that is under way. */
export interface CallLease {
  readonly id: string
  readonly at: number
  /** What it holds of limits on tokens. */
  readonly tokens: number
}

/** What a tree has taken and holds, as its run state keeps it. */
export interface RunLeases {
  /** The run that was admitted: carried on after a pause, it is counted no second time. */
  readonly counted: string | null
  readonly run: RunLease | undefined
  readonly calls: readonly CallLease[]
}

/** What the state of a run says. */
export function readLeases(state: RunState | undefined): RunLeases {
  const value = state?.get() as Partial<RunLeases> | undefined
  return { counted: value?.counted ?? null, run: value?.run, calls: value?.calls ?? [] }
}

/** Changes what the state of a run says; nothing where there is no run. */
export function changeLeases(state: RunState | undefined, change: (leases: RunLeases) => RunLeases): void {
  if (state === undefined) return
  const before = readLeases(state)
  const next = change(before)
  if (next === before) return
  state.update((): JsonValue => toState(next))
}

/** With this call's slot renewed at `lease.at`. */
export function withCall(leases: RunLeases, lease: CallLease): RunLeases {
  return { ...leases, calls: [...leases.calls.filter(({ id }) => id !== lease.id), lease] }
}

/** Without the slot of this call. */
export function withoutCall(leases: RunLeases, id: string): RunLeases {
  return leases.calls.some((call) => call.id === id)
    ? { ...leases, calls: leases.calls.filter((call) => call.id !== id) }
    : leases
}

/** True where a slot that was renewed at `at` is to be renewed at `now`, also after a restart, where `now` begins anew. */
export function isDue(at: number, now: number, leaseMs: number): boolean {
  return now < at || now - at >= leaseMs / 3
}

function toState({ counted, run, calls }: RunLeases): JsonObject {
  return {
    ...(counted === null ? {} : { counted }),
    ...(run === undefined ? {} : { run: run as unknown as JsonObject }),
    calls: calls.map((call) => ({ ...call })),
  }
}
