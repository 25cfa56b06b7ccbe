import type { Ids } from '@sluice/core'

const MAX_SEED = 0xffff

/**
 * Ids that are the same in every run: valid UUIDv7 (`01940000-0000-7000-8001-000000000001`, `...02` and on, each greater
 * than the one before) and request ids of 32 hexadecimal characters. `seed` (0 to 65 535, default 0) stands in the fourth
 * group; generators with different seeds never give the same id.
 */
export function fakeIds(seed = 0): Ids {
  if (!Number.isInteger(seed) || seed < 0 || seed > MAX_SEED)
    throw new RangeError(`seed is ${seed}, not 0 to ${MAX_SEED}`)
  const variant = (0x8000 | (seed & 0x3fff)).toString(16)
  // the two bits of the seed that the variant leaves no room for stand in the third group
  const version = `7${(seed >> 14).toString(16).padStart(3, '0')}`
  const source = seed.toString(16).padStart(4, '0')
  let ids = 0
  let requests = 0
  return {
    id() {
      ids += 1
      return `01940000-0000-${version}-${variant}-${ids.toString(16).padStart(12, '0')}`
    },
    requestId() {
      requests += 1
      return `${source}${requests.toString(16).padStart(28, '0')}`
    },
  }
}
