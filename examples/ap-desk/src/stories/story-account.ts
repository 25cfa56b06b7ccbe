import type { Verification } from '@sluice/hooks-audit'
import type { EffectAccount } from '../account/account.js'
import type { Story } from './story.js'

/** One thing that happened. */
export interface Step {
  readonly label: string
  /** The first is the most important; a long one is wrapped. */
  readonly lines: readonly string[]
  /** Where it could have come out otherwise: `completed`, the code of an error, the word for what was found. */
  readonly ending: string | null
}

/** Everything that is told about one story. */
export interface StoryAccount {
  readonly story: Story
  readonly model: string
  readonly steps: readonly Step[]
  /** What was guarded, of all runs. */
  readonly effects: readonly EffectAccount[]
  /** What the verification of the audit log says at the end. */
  readonly log: Verification
  /** True where the provider could not be used. */
  readonly providerFailed: boolean
}

/** The endings of a story, in their order. */
export const endingsOf = ({ steps }: StoryAccount): readonly string[] => steps.flatMap(({ ending }) => ending ?? [])
