/** One shape of a run: how many rounds of tool calls it has, and how many calls stand in a round. */
export interface Scenario {
  /** Stable name, part of the names of figures. It is also the model's name, by which the server knows what to answer. */
  readonly name: string
  readonly rounds: number
  readonly callsPerRound: number
}

export const SCENARIOS: readonly Scenario[] = [
  { name: '0-rounds', rounds: 0, callsPerRound: 0 },
  { name: '1-round', rounds: 1, callsPerRound: 1 },
  { name: '10-rounds', rounds: 10, callsPerRound: 1 },
  { name: '10-calls', rounds: 1, callsPerRound: 10 },
]

/** The scenario whose replies the server holds back until it is told to let them go. */
export const PARKED: Scenario = { name: 'parked', rounds: 0, callsPerRound: 0 }
