/** One rule of a contract: a fact, and the check that proves it. The check rejects where the fact does not hold. */
export interface ContractRow {
  readonly title: string
  run(): Promise<void> | void
}
