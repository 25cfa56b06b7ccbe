/**
 * The named stages of a gate point, asked from low to high: identity and policy first, then limits, then a human, then money
 * is held, and last the intent is recorded. Any finite number up to `record` is a stage.
 */
export const Stage = Object.freeze({
  identity: -200,
  policy: -100,
  limit: 0,
  approve: 50,
  reserve: 100,
  record: 200,
} as const)
