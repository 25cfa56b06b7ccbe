import type { Account } from './account.js'
import type { Composition } from './composition.js'
import { Theatre } from './play.js'

const PLAYS = 500

/** Plays one composition after another on a theatre that is renewed now and then, and after every failure. */
export class Stage {
  #theatre = new Theatre()
  #played = 0

  async play(shape: Composition): Promise<Account> {
    if (++this.#played % PLAYS === 0) {
      await this.#theatre.close()
      this.#theatre = new Theatre()
    }
    try {
      return await this.#theatre.play(shape)
    } catch (error) {
      // a run that stands still must not be heard of in the next one
      this.#theatre = new Theatre()
      throw error
    }
  }

  close(): Promise<void> {
    return this.#theatre.close()
  }
}
