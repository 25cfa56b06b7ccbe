import { ProviderError, SluiceError } from '@sluice/core'
import { audit } from '@sluice/hooks-audit'
import type { EffectAccount } from '../account/account.js'
import { toEffect, toEnding } from '../account/collect-account.js'
import type { DeskAtWork, Ended, PlayOptions } from '../scenes/desk-at-work.js'
import { withDesk } from '../scenes/desk-at-work.js'
import type { ProviderChoice } from '../scenes/provider-choice.js'
import { SERVICE_USER } from '../scenes/service-user.js'
import type { Story, Teller } from './story.js'
import type { Step, StoryAccount } from './story-account.js'

/** Plays one story on a desk of its own and gives the account of it. */
export const playStory = (story: Story, choice: ProviderChoice, options: PlayOptions = {}): Promise<StoryAccount> =>
  withDesk(choice, story.fixtures, options, (at) => tellStory(story, at))

/** Plays a story on a desk that is open. */
export async function tellStory(story: Story, at: DeskAtWork): Promise<StoryAccount> {
  const steps: Step[] = []
  const effects = new Map<string, readonly EffectAccount[]>()
  let providerFailed = false

  /** What was guarded in a run, as its receipts tell; empty where nothing of it was recorded. */
  async function guarded(ended: Ended): Promise<readonly EffectAccount[]> {
    const executionId = executionOf(ended)
    if (executionId === undefined) return []
    const receipts = await at.runtime.executions.receipts(executionId, { scope: { tenant: null } })
    const found = receipts.map(toEffect)
    effects.set(executionId, found)
    return found
  }

  const tell: Teller = {
    note: (label, ...lines) => void steps.push({ label, lines, ending: null }),
    found: (label, ending, ...lines) => void steps.push({ label, lines, ending }),
    async asks(asking) {
      tell.note('asks', `${asking.caller.user ?? SERVICE_USER}: ${asking.question}`)
      return at.ask(asking)
    },
    async ended(ended, ...lines) {
      const { code, by } = toEnding(ended)
      if ('error' in ended && ProviderError.isInstance(ended.error)) providerFailed = true
      const requests = (await guarded(ended)).filter((one) => one.effect === 'model_call' && one.sent !== 'no').length
      const sent = requests === 0 ? 'nothing was sent' : `${requests} request${requests === 1 ? '' : 's'}`
      tell.found('ended', code, `${code}${by === null ? '' : ` by ${by}`}; ${sent}`, ...lines)
    },
  }
  await story.play(at, tell)
  const log = await at.runtime.plugin(audit).verify()
  return { story, model: at.model, steps, effects: [...effects.values()].flat(), log, providerFailed }
}

function executionOf(ended: Ended): string | undefined {
  if ('run' in ended) return ended.run.executionId
  return SluiceError.isInstance(ended.error) ? ended.error.partial?.executionId : undefined
}
