const ROUNDS = 4

/**
 * Lets everything that is ready have its turn: all promise reactions, and I/O that has arrived. It waits for no time: each
 * round is one turn of the event loop.
 */
export async function drain(): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve)
    })
  }
}
