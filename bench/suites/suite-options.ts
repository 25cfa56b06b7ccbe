/** What every suite is told. */
export interface SuiteOptions {
  /** Slices of each side. */
  readonly slices: number
  /** Slices of each side that are run before and thrown away. */
  readonly warmUps: number
  /** For development: fewer of everything. */
  readonly quick: boolean
  /** True where the figure of this name was asked for. */
  wants(name: string): boolean
  /** Says what is being measured now. */
  progress(what: string): void
}
