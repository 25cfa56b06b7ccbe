/** Runs `work` `count` times, `inFlight` of them at a time: each one that ends starts the next. */
export async function runInFlight(count: number, inFlight: number, work: () => Promise<unknown>): Promise<void> {
  let started = 0
  const lane = async (): Promise<void> => {
    while (started < count) {
      started += 1
      await work()
    }
  }
  await Promise.all(Array.from({ length: Math.min(inFlight, count) }, lane))
}
