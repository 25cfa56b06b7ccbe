import { Land, Pause, Refusal, Veto, Wait } from '@sluice/core'

/** How a gate was tapped. */
export type Via = 'tap' | 'tapPromise' | 'tapAsync'

/** What a gate says: nothing (it passes), a value, something thrown, or one of the answers. Names point into the tables below. */
export type Give =
  | { readonly give: 'pass' }
  | { readonly give: 'value'; readonly name: ValueName }
  | { readonly give: 'throw'; readonly name: ThrownName }
  | { readonly give: 'answer'; readonly name: AnswerName }

/** When it says so: at once, after a microtask, or on a timer. */
export type How = 'sync' | 'soon' | 'timer'

export type ThenableShape =
  | 'passes'
  | 'pass-then-reject'
  | 'reject-then-pass'
  | 'throws'
  | 'accessor-throws'
  | 'gives-false'
  | 'never'
export type CallbackShape =
  | 'twice'
  | 'then-throw'
  | 'with-value'
  | 'veto-after-pass'
  | 'pass-beside-rejection'
  | 'veto-beside-rejection'
  | 'veto-then-pass'

/** What one asking of a gate does. */
export type Act =
  | { readonly act: 'settle'; readonly how: How; readonly ms: number; readonly say: Give }
  | { readonly act: 'hang' }
  | { readonly act: 'late'; readonly say: Give }
  /** Keeps the thread, beyond the deadline where `over`; at once, or in what its promise waits for. */
  | { readonly act: 'block'; readonly over: boolean; readonly say: Give; readonly promise: boolean }
  | { readonly act: 'thenable'; readonly shape: ThenableShape }
  | { readonly act: 'callback'; readonly shape: CallbackShape }
  /** Aborts the run from inside, then goes on as if nothing were. */
  | { readonly act: 'abort'; readonly how: How; readonly ms: number; readonly say: Give }
  /** Tries to change what it was handed; loud: and lets the error of that out. */
  | { readonly act: 'meddle'; readonly loud: boolean }
  /** Calls the runtime from inside. */
  | { readonly act: 'call'; readonly catches: boolean }

/** Values that are no answer. */
export const VALUES = {
  false: false,
  true: true,
  null: null,
  empty: '',
  zero: 0,
  nan: Number.NaN,
  text: 'ok',
  object: { allow: true },
  list: [],
  symbol: Symbol('pass'),
  veto: new Veto('RETURNED', 'A veto that was returned, not thrown.'),
} as const
export type ValueName = keyof typeof VALUES

const HOSTILE = new Proxy(
  {},
  {
    get: () => {
      throw new Error('cannot be read')
    },
    has: () => {
      throw new Error('cannot be read')
    },
    getPrototypeOf: () => {
      throw new Error('cannot be read')
    },
    getOwnPropertyDescriptor: () => {
      throw new Error('cannot be read')
    },
    ownKeys: () => {
      throw new Error('cannot be read')
    },
  },
)

/** Things that are thrown and are no answer. */
export const THROWN = {
  error: new Error('a bug'),
  'frozen-error': Object.freeze(new Error('a frozen bug')),
  'type-error': new TypeError('x is not a function'),
  string: 'a string',
  undefined: undefined,
  null: null,
  zero: 0,
  object: { without: 'a message' },
  hostile: HOSTILE,
  'looks-like-a-veto': { name: 'Veto', code: 'FAKE', message: 'not one of ours' },
} as const
export type ThrownName = keyof typeof THROWN

const SHARED_VETO = new Veto('SHARED', 'One object, thrown again and again.')
const FROZEN_VETO = Object.freeze(new Veto('FROZEN', 'An object that cannot be changed.'))
const SHARED_REFUSAL = new Refusal('SHARED_REFUSAL', 'No.')
const withField = <Value extends object>(value: Value, key: string, field: unknown): Value =>
  Object.defineProperty(value, key, { value: field, enumerable: true })

interface AnswerRow {
  readonly kind: 'Veto' | 'Refusal' | 'Pause' | 'Wait' | 'Land'
  /** False where its values are not sound: then it is a failure at every point. */
  readonly sound: boolean
  readonly code: string
  /** Milliseconds of a `Wait`. */
  readonly ms?: number
  make(): unknown
}

const row = (
  kind: AnswerRow['kind'],
  code: string,
  make: () => unknown,
  more: { readonly sound?: boolean; readonly ms?: number } = {},
): AnswerRow => ({ kind, sound: true, code, make, ...more })

/** The answers, with sound and unsound values. An unsound `Veto` is a veto all the same. */
export const ANSWERS = {
  veto: row('Veto', 'NO', () => new Veto('NO', 'No.')),
  'veto-with-details': row('Veto', 'LIMIT', () => new Veto('LIMIT', 'Too much.', { spent: 3, limit: 2 })),
  'veto-shared': row('Veto', 'SHARED', () => SHARED_VETO),
  'veto-frozen': row('Veto', 'FROZEN', () => FROZEN_VETO),
  'veto-without-code': row('Veto', 'VETO', () => withField(new Veto('X', 'No.'), 'code', 7)),
  'veto-with-live-details': row(
    'Veto',
    'LIVE',
    () => new Veto('LIVE', 'No.', { at: new Date(0), fn: () => 1 } as never),
  ),
  refusal: row('Refusal', 'REFUSED_HERE', () => new Refusal('REFUSED_HERE', 'Not this one.')),
  'refusal-shared': row('Refusal', 'SHARED_REFUSAL', () => SHARED_REFUSAL),
  'refusal-without-text': row('Refusal', 'R', () => withField(new Refusal('R', 'x'), 'text', 7), { sound: false }),
  pause: row('Pause', 'ASK', () => new Pause('ASK', { details: { amount: 3 } })),
  'pause-expires-never': row('Pause', 'ASK', () => new Pause('ASK', { expiresAt: Number.NaN }), { sound: false }),
  'wait-0': row('Wait', 'BUSY_0', () => new Wait('BUSY_0', 0), { ms: 0 }),
  'wait-20': row('Wait', 'BUSY_20', () => new Wait('BUSY_20', 20), { ms: 20 }),
  'wait-700': row('Wait', 'BUSY_700', () => new Wait('BUSY_700', 700), { ms: 700 }),
  'wait-negative': row('Wait', 'W', () => new Wait('W', -1), { sound: false }),
  'wait-forever': row('Wait', 'W', () => new Wait('W', Number.POSITIVE_INFINITY), { sound: false }),
  'wait-text': row('Wait', 'W', () => new Wait('W', '20' as never), { sound: false }),
  land: row('Land', 'LANDING', () => new Land('LANDING', { maxOutputTokens: 100 })),
  'land-plain': row('Land', 'LANDING_PLAIN', () => new Land('LANDING_PLAIN')),
  'land-on-nothing': row('Land', 'L', () => new Land('L', { maxOutputTokens: 0 }), { sound: false }),
  'land-on-half': row('Land', 'L', () => new Land('L', { maxOutputTokens: 0.5 }), { sound: false }),
} as const satisfies Record<string, AnswerRow>
export type AnswerName = keyof typeof ANSWERS

export const answerRow = (name: AnswerName): AnswerRow => ANSWERS[name]
