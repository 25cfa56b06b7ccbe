/** One rule of a contract: a fact, and the check that proves it. The check rejects where the fact does not hold. */
export interface ContractRow {
  readonly title: string
  /** True for a row that cannot be checked with what was given; its title says what is missing. */
  readonly skip?: boolean
  /** How long it may take, where that is more than other rows. */
  readonly timeoutMs?: number
  run(): Promise<void> | void
}
