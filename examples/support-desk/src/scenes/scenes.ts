import type { Customer } from '../support-desk.js'

/** One step of the example: somebody asks, or an operator adds to a budget. */
export type Scene = Asking | ToppingUp

/** A customer asks. */
export interface Asking {
  readonly kind: 'ask'
  readonly title: string
  readonly customer: Customer
  readonly question: string
  /** `answered`, or the code of the veto. */
  readonly expected: string
  /** Milliseconds that go by before it. */
  readonly after?: number
}

/** An operator adds to the month of a tenant. */
export interface ToppingUp {
  readonly kind: 'top-up'
  readonly title: string
  readonly tenant: string
  readonly usd: string
  readonly by: { readonly key: string; readonly who: string; readonly why: string }
}

const ANNA: Customer = { tenant: 'acme', user: 'anna' }
const GUS: Customer = { tenant: 'globex', user: 'gus' }

/** What happens, in this order, on one desk. */
export const SCENES: readonly Scene[] = [
  {
    kind: 'ask',
    title: 'A customer of the large tenant asks',
    customer: ANNA,
    question: 'Where is A-100?',
    expected: 'answered',
  },
  {
    kind: 'ask',
    title: 'A customer of the small tenant asks',
    customer: GUS,
    question: 'Where is G-1?',
    expected: 'answered',
  },
  { kind: 'ask', title: 'And asks again', customer: GUS, question: 'Has G-2 arrived?', expected: 'answered' },
  {
    kind: 'ask',
    title: 'The next request does not fit into the month of the small tenant: it is not sent',
    customer: GUS,
    question: 'And G-3?',
    expected: 'BUDGET_EXHAUSTED',
  },
  {
    kind: 'ask',
    title: 'The large tenant notices nothing of that',
    customer: ANNA,
    question: 'A-101 came broken.',
    expected: 'answered',
  },
  {
    kind: 'top-up',
    title: 'An operator adds to the month of the small tenant',
    tenant: 'globex',
    usd: '0.05',
    by: { key: 'invoice-2044', who: 'billing', why: 'bought more' },
  },
  { kind: 'ask', title: 'Now the question is answered', customer: GUS, question: 'And G-3?', expected: 'answered' },
  {
    kind: 'ask',
    title: 'A fifth run within a minute is one too many',
    customer: GUS,
    question: 'And once more: G-1?',
    expected: 'RATE_LIMIT_EXCEEDED',
  },
  {
    kind: 'ask',
    title: 'A minute later it is not',
    customer: GUS,
    question: 'And once more: G-1?',
    expected: 'answered',
    after: 60_000,
  },
]
