/** One order of a shop. */
export interface Order {
  readonly order: string
  readonly status: 'packed' | 'shipped' | 'delivered'
  readonly carrier: string
}

/** The orders of one tenant, and the tickets that were opened for it. */
export interface OrderBook {
  find(order: string): Order | undefined
  /** Gives the number of the ticket. */
  openTicket(order: string, problem: string): string
  readonly tickets: readonly string[]
}

/** An order book over these orders. */
export function createOrderBook(prefix: string, orders: readonly Order[]): OrderBook {
  const tickets: string[] = []
  return {
    tickets,
    find: (order) => orders.find((one) => one.order === order),
    openTicket(order, problem) {
      const number = `${prefix}-${tickets.length + 1}`
      tickets.push(`${number} ${order}: ${problem}`)
      return number
    },
  }
}
