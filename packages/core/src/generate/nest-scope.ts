import type { Label } from '../messages/label.js'
import type { RunScope } from './run-scope.js'

/** What a frame keeps so that a call made inside it is nested below the right run and gets its place in the tree. */
export interface NestScope {
  readonly run: RunScope
  /** Path of names below the root under which nested calls stand. */
  readonly path: string
  /** Nested calls so far, for their names. */
  next: number
  /** Set in a gate: its point, which nested calls must not reach again. */
  readonly point?: string
  /** Labels of the request that led here; absent: those of the run's own call. */
  labels?(): readonly Label[]
  /** Points of gates around this scope. */
  readonly gatePoints?: readonly string[] | undefined
}
