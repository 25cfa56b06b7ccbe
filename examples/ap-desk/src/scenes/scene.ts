import type { Caller, OfferedRunContext } from '@sluice/core'
import type { FixtureSituation } from '@sluice/testkit'
import type { Desk } from '../desk/open-desk.js'

/** What the provider answers in replayed runs: a fixture of the testkit, or one of this example. */
export type SceneFixture = { readonly testkit: FixtureSituation } | { readonly own: string }

/** One run of the desk: who asks for what, and how it is to end. */
export interface Scene {
  readonly code: string
  readonly title: string
  readonly question: string
  readonly caller: Caller
  readonly runContext: OfferedRunContext
  readonly fixture: SceneFixture
  /** What has happened at the desk before. */
  readonly prepare?: (desk: Desk) => void
  /** What the second person says, should the run pause. */
  readonly decision?: { readonly decision: 'approve' | 'deny'; readonly by: string; readonly note: string }
  /** `completed`, or the code of the error that leaves the run. Live models may find another end. */
  readonly expected: string
}
