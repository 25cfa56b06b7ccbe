/** One side of a comparison. */
export interface Side {
  readonly name: string
  /** One slice of work; resolves with its sample. */
  slice(): Promise<number>
}

/**
 * Runs one slice of each side in turn, `slices` times, every second time in the opposite order, so that what changes on
 * the machine meanwhile meets all sides alike.
 */
export async function interleave(
  sides: readonly Side[],
  slices: number,
  between: () => void,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const samples = new Map<string, number[]>(sides.map((side) => [side.name, []]))
  for (let round = 0; round < slices; round++) {
    const order = round % 2 === 0 ? sides : sides.toReversed()
    for (const side of order) {
      between()
      samples.get(side.name)?.push(await side.slice())
    }
  }
  return samples
}
