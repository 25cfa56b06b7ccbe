import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Bytes in use after collections have been forced. */
export async function heapAfterGc(): Promise<number> {
  setFlagsFromString('--expose_gc')
  const gc = runInNewContext('gc') as () => void
  for (let round = 0; round < 4; round++) {
    gc()
    await new Promise<void>((resolve) => void setImmediate(resolve))
  }
  return process.memoryUsage().heapUsed
}
