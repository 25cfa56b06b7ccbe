import type { Clock } from '../internal/clock.js'
import type { Ids } from '../internal/ids.js'
import type { Logger } from '../internal/logger.js'
import type { DefinitionRecord, DefinitionStatus } from '../store/records.js'
import type { DefinitionRepository, Page, PageRequest } from '../store/store.js'
import type { PreparedPrompt } from './prepare-prompt.js'
import type { PromptProfile, PromptProfileDefinition } from './prompt-profile.js'

/** One version of a prompt profile as it is stored. */
export interface PromptProfileRecord extends Omit<DefinitionRecord, 'definition'> {
  readonly definition: PromptProfile
}

/** A version, by its id or by code and number. */
export type PromptReference = string | { readonly code: string; readonly version: number }

/** A version with its profile ready for use. */
export interface ResolvedPrompt {
  readonly record: PromptProfileRecord
  readonly prompt: PreparedPrompt
}

/** What a stored version came to. */
export interface StoredPrompt {
  readonly id: string
  readonly version: number
  /** What has no effect or may be a mistake (P-22). */
  readonly warnings: readonly string[]
}

/** Where a registry keeps its versions and takes time and ids from. */
export interface PromptRegistryParts {
  /** The store, or a unit of `store.transaction`, in which the registry then works (P-10). */
  readonly store: { readonly prompts: DefinitionRepository }
  readonly clock: Pick<Clock, 'now'>
  readonly ids: Pick<Ids, 'id'>
  /** Gets the warnings. */
  readonly logger?: Logger
  /** Unknown keys are faults in place of warnings. Default false. */
  readonly strict?: boolean
}

/** Who does it: goes into `createdBy` and `updatedBy`. */
export interface ChangedBy {
  readonly by?: string | null
}

/** Versions of prompt profiles. Every method throws `NOT_FOUND` for a version that is not there. */
export interface PromptRegistry {
  /**
   * Stores a new profile, version 1 and a draft unless it says otherwise (P-2, P-6).
   *
   * @throws INVALID_CONFIG with all faults at once, INVALID_STATUS, DUPLICATE_NAME for a version that is there
   */
  create(
    definition: PromptProfileDefinition,
    options?: ChangedBy & { readonly status?: DefinitionStatus },
  ): Promise<StoredPrompt>
  /** Replaces all editable fields; what is left out becomes null (P-6). Code, version and status stay. @throws INVALID_CONFIG */
  update(reference: PromptReference, definition: PromptProfileDefinition, options?: ChangedBy): Promise<StoredPrompt>
  /** Copies a version into a draft: the highest version of the code plus one, unless a number is given (P-8). @throws DUPLICATE_NAME */
  createNewVersion(code: string, sourceVersion: number, newVersion?: number, options?: ChangedBy): Promise<StoredPrompt>
  /** Any status may follow any other; several versions may be active (P-3). @throws INVALID_STATUS */
  changeStatus(reference: PromptReference, status: DefinitionStatus, options?: ChangedBy): Promise<void>
  get(reference: PromptReference): Promise<PromptProfileRecord>
  /** All versions, by code and number. */
  list(page?: PageRequest & { readonly status?: DefinitionStatus }): Promise<Page<PromptProfileRecord>>
  delete(reference: PromptReference): Promise<void>
  /** The version of this number, whatever its status, else the highest active one (P-3, P-4), ready for use. */
  resolve(code: string, version?: number): Promise<ResolvedPrompt>
  /** The profile of a version ready for use; equal definitions share it. */
  prepare(record: PromptProfileRecord): Promise<PreparedPrompt>
  /**
   * Brings a profile that stands in code into the store: where it differs from the active version, it becomes the next
   * one and is activated, and the active versions that came from code are archived. Two writes: run it on a transaction.
   */
  sync(definition: PromptProfileDefinition, options?: ChangedBy): Promise<PromptProfileRecord>
}
