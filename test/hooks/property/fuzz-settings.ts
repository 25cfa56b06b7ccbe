/** Runs of a property: `SLUICE_FUZZ_RUNS` (pnpm fuzz), else `standard`. */
export function fuzzRuns(standard: number): number {
  return Number(process.env.SLUICE_FUZZ_RUNS ?? standard)
}

/** `SLUICE_FUZZ_SEED`, else a fresh seed; `offset` keeps the parts of one property apart. */
export function fuzzSeed(offset = 0): number {
  const given = process.env.SLUICE_FUZZ_SEED
  return (given === undefined ? Math.floor(Math.random() * 0x7fff_0000) : Number(given)) + offset
}
