const INTERRUPT: unique symbol = Symbol('interrupt')

/**
 * Thrown through steps and branches to leave a run without ending it (a pause). It is recorded in no journal: the replay
 * comes to the same place and goes on there.
 */
export class Interrupt extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'Interrupt'
    Object.defineProperty(this, INTERRUPT, { value: true })
  }

  static isInstance(value: unknown): value is Interrupt {
    return value instanceof Interrupt && Object.hasOwn(value, INTERRUPT)
  }
}
