import fc from 'fast-check'
import type { Act, AnswerName, CallbackShape, Give, ThenableShape, ThrownName, ValueName, Via } from './acts.js'
import { answerRow, ANSWERS, THROWN, VALUES } from './acts.js'
import type { CallShape, Composition, GateTap, PluginShape, Point, Watching } from './composition.js'

const names = <Table extends object>(table: Table) => Object.keys(table) as (keyof Table)[]
const pass: Give = { give: 'pass' }

const answer = (of: readonly AnswerName[]) => fc.constantFrom(...of).map((name): Give => ({ give: 'answer', name }))
const say: fc.Arbitrary<Give> = fc.oneof(
  { weight: 6, arbitrary: fc.constant(pass) },
  { weight: 4, arbitrary: answer(names(ANSWERS)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...names(THROWN)).map((name): Give => ({ give: 'throw', name: name as ThrownName })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...names(VALUES)).map((name): Give => ({ give: 'value', name: name as ValueName })),
  },
)
/** What leads a run on at each point, besides passing: said more often than chance would have it. */
const LEADS_ON: Readonly<Record<Point | 'authorize', readonly AnswerName[]>> = {
  beforeExecution: ['wait-0', 'wait-20'],
  beforeModelCall: ['wait-20', 'land', 'land-plain'],
  whileInFlight: ['veto'],
  inspectReply: ['refusal', 'refusal-shared'],
  beforeToolCall: ['refusal', 'wait-0', 'wait-700'],
  inspectToolInput: ['refusal', 'wait-20', 'pause'],
  authorize: ['refusal'],
}
const how = fc.constantFrom('sync' as const, 'soon' as const, 'timer' as const)
const gateMs = fc.constantFrom(10, 30, 340)

const settle = (given: fc.Arbitrary<Give>): fc.Arbitrary<Act> =>
  fc.record({ act: fc.constant('settle' as const), how, ms: gateMs, say: given })
const passing = settle(fc.constant(pass))

const THENABLES: readonly ThenableShape[] = [
  'passes',
  'pass-then-reject',
  'reject-then-pass',
  'throws',
  'accessor-throws',
  'gives-false',
  'never',
]
const CALLBACKS: readonly CallbackShape[] = [
  'twice',
  'then-throw',
  'with-value',
  'veto-after-pass',
  'pass-beside-rejection',
  'veto-beside-rejection',
  'veto-then-pass',
]

const shared = (point: Point | 'authorize'): fc.WeightedArbitrary<Act>[] => [
  { weight: 22, arbitrary: passing },
  { weight: 6, arbitrary: settle(say) },
  { weight: 6, arbitrary: settle(answer(LEADS_ON[point])) },
  { weight: 1, arbitrary: fc.constant<Act>({ act: 'hang' }) },
  { weight: 1, arbitrary: say.map((given): Act => ({ act: 'late', say: given })) },
  {
    weight: 1,
    arbitrary: fc.record({ act: fc.constant('block' as const), over: fc.boolean(), say, promise: fc.boolean() }),
  },
  // always within its deadline: an abort that comes later meets the run anywhere
  { weight: 1, arbitrary: fc.record({ act: fc.constant('abort' as const), how, ms: fc.constant(10), say }) },
  { weight: 2, arbitrary: fc.boolean().map((loud): Act => ({ act: 'meddle', loud })) },
  ...(point === 'whileInFlight' || point === 'authorize'
    ? []
    : [{ weight: 1, arbitrary: fc.boolean().map((catches): Act => ({ act: 'call', catches })) }]),
]

const actOf = (point: Point | 'authorize', via: Via): fc.Arbitrary<Act> =>
  fc.oneof(
    ...shared(point),
    via === 'tapAsync'
      ? { weight: 2, arbitrary: fc.constantFrom(...CALLBACKS).map((shape): Act => ({ act: 'callback', shape })) }
      : { weight: 2, arbitrary: fc.constantFrom(...THENABLES).map((shape): Act => ({ act: 'thenable', shape })) },
  )

/** The last act stands for all askings that follow: it must not be one that leads to another asking for ever. */
function endsSomewhere(acts: readonly Act[]): readonly Act[] {
  const last = acts.at(-1) as Act
  return leadsOn(last) ? [...acts, { act: 'settle', how: 'sync', ms: 0, say: pass }] : acts
}

function leadsOn(act: Act): boolean {
  return 'say' in act && act.say.give === 'answer' && ['Wait', 'Land', 'Refusal'].includes(answerRow(act.say.name).kind)
}

const acts = (point: Point | 'authorize', via: Via, atMost: number) =>
  fc.array(actOf(point, via), { minLength: 1, maxLength: atMost }).map(endsSomewhere)

/** A tap that calls the runtime from inside gets a deadline that the gates in there cannot use up, and does not use it up itself. */
function withRoom(
  given: readonly Act[],
  timeoutMs: number,
): { readonly acts: readonly Act[]; readonly timeoutMs: number } {
  if (!given.some((act) => act.act === 'call')) return { acts: given, timeoutMs }
  const acts = given.filter((act) => !['hang', 'late', 'block', 'thenable'].includes(act.act))
  return { acts, timeoutMs: 900_007 }
}

const POINTS: readonly Point[] = [
  'beforeExecution',
  'beforeModelCall',
  'whileInFlight',
  'inspectReply',
  'beforeToolCall',
  'inspectToolInput',
]

const gateTap = (atMost: number): fc.Arbitrary<GateTap> =>
  fc
    .tuple(fc.constantFrom(...POINTS), fc.constantFrom<Via>('tap', 'tapPromise', 'tapAsync'))
    .chain(([point, via]) =>
      fc
        .tuple(
          acts(point, via, atMost),
          fc.constantFrom(-200, -100, 0, 0, 0, 3.5, 50, 100, 200),
          fc.constantFrom(57, 5_007),
        )
        .map(([given, stage, timeoutMs]) => ({ point, via, stage, ...withRoom(given, timeoutMs) })),
    )

const watching: fc.Arbitrary<Watching> = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Watching>('well') },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Watching>('throws', 'rejects', 'hangs', 'slowly', 'gives-false', 'calls-back-twice'),
  },
)

export const pluginShape = (atMost = 3): fc.Arbitrary<PluginShape> =>
  fc.record({
    shadow: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
    gates: fc.array(gateTap(atMost), { minLength: 1, maxLength: 3 }),
    watching,
  })

const callShape: fc.Arbitrary<CallShape> = fc.record({
  effect: fc.constantFrom('read' as const, 'write' as const, 'send' as const),
  authorize: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(actOf('authorize', 'tap'), { minLength: 1, maxLength: 2 }).map(endsSomewhere) },
  ),
  ms: fc.constantFrom(0, 0, 3, 1_203, 2_503),
  ends: fc.oneof(
    { weight: 7, arbitrary: fc.constant('ok' as const) },
    { weight: 1, arbitrary: fc.constantFrom('refuses' as const, 'vetoes' as const, 'throws' as const) },
  ),
})

export const composition = (atMost = 3, plugins = 8): fc.Arbitrary<Composition> =>
  fc.record({
    plugins: fc.array(pluginShape(atMost), { minLength: 1, maxLength: plugins }),
    calls: fc.array(callShape, { minLength: 1, maxLength: 3 }),
    replyMs: fc.tuple(fc.constantFrom(0, 3, 1_203, 2_503), fc.constantFrom(0, 3, 1_203)),
    honoursSignal: fc.boolean(),
    maxWaitMs: fc.constantFrom(0 as const, 1000 as const, 1000 as const),
    stream: fc.integer({ min: 0, max: 4 }).map((number) => number === 0),
  })
