import type { Account, Books, Note } from '../account/account.js'
import { collectAccount } from '../account/collect-account.js'
import type { Desk } from '../desk/open-desk.js'
import type { PlayOptions } from './desk-at-work.js'
import { withDesk } from './desk-at-work.js'
import type { ProviderChoice } from './provider-choice.js'
import type { Scene } from './scene.js'

/** Plays one scene and gives the account of it. A run that fails is an ending like any other and is not thrown. */
export function playScene(scene: Scene, choice: ProviderChoice, options: PlayOptions = {}): Promise<Account> {
  return withDesk(choice, [scene.fixture], options, async (at) => {
    const { desk, model } = at
    scene.prepare?.(desk)
    const before = countBooks(desk)
    const notes: Note[] = []
    let ended = await at.ask(scene)
    if ('run' in ended && ended.run.status === 'paused' && scene.decision !== undefined) {
      const { executionId, pending } = ended.run
      for (const { toolCode, plugin, code } of pending) notes.push({ kind: 'paused', toolCode, plugin, code })
      // an answer may take days: nothing of the run has to stay in memory until then
      await at.reopen()
      for (const { effectId } of pending) {
        await at.runtime.decide(executionId, { effectId, ...scene.decision, scope: { tenant: null } })
      }
      notes.push({ kind: 'decided', ...scene.decision })
      ended = await at.resume(executionId)
    }
    return collectAccount({ scene, model, runtime: at.runtime, ended, notes, before, after: countBooks(desk) })
  })
}

function countBooks(desk: Desk): Books {
  return { approvals: desk.books.countApprovals(), lastNumber: desk.numbers.last() }
}
