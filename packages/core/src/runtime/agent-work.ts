import type {
  AgentDescription,
  AgentWork,
  BranchWork,
  ChildOutcome,
  ChildResult,
  ChildRun,
  OwnTurn,
  OwnTurnResult,
} from '../agents/agent-work.js'
import { leavesRun } from '../engine/leaves-run.js'
import type { Steps } from '../engine/engine.js'
import { SluiceError } from '../errors/sluice-error.js'
import { Spoken } from '../generate/spoken.js'
import { escapeControl } from '../internal/escape-text.js'
import type { JsonValue } from '../internal/json.js'
import type { Label } from '../messages/label.js'
import type { Message } from '../messages/message.js'
import { noteStore } from './finish-run.js'
import { logChildError } from './log-child-error.js'
import type { NestedResult, NestedRun } from './nested-run.js'
import { takeOwnTurn } from './own-turn.js'
import type { RunningAgent } from './run-agent.js'
import { checkVouched, withoutLabels } from './vouched-result.js'

/** A name of an effect id. */
const NAME = /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,79}$/

/** Where work stands: its steps, and the names above it. */
interface Place {
  readonly steps: Steps
  readonly path: string
}

/** The part of the work that may go on beside other parts. */
class WorkBranch implements BranchWork {
  protected readonly running: RunningAgent
  protected readonly place: Place
  protected readonly spoken: Spoken
  readonly #names = new Set<string>()
  /** What left the run without ending it: a pause, or a journal that does not fit. Nothing starts here behind it. */
  #left: { readonly thrown: unknown } | undefined

  constructor(running: RunningAgent, place: Place, spoken: Spoken) {
    this.running = running
    this.place = place
    this.spoken = spoken
  }

  get labels(): readonly Label[] {
    return this.spoken.labels
  }

  async run(name: string, child: ChildRun): Promise<ChildResult> {
    await this.#enter(name, child)
    return this.#runChild(name, child)
  }

  async attempt(name: string, child: ChildRun): Promise<ChildOutcome> {
    await this.#enter(name, child)
    try {
      return { ok: true, result: await this.#runChild(name, child) }
    } catch (error) {
      this.check()
      const { run, agent } = this.running
      const errorReference = await this.place.steps.step(`${name}:error`, () =>
        logChildError(run, { agentCode: agent.code, effectId: this.#effectOf(name), error }),
      )
      return { ok: false, error, errorReference }
    }
  }

  async branch<Value>(name: string, work: (branch: BranchWork) => Promise<Value>): Promise<Value> {
    this.take(name)
    this.check()
    return this.leaving(async () => {
      let inner: WorkBranch | undefined
      const value = await this.place.steps.branch(name, (steps) => {
        inner = new WorkBranch(this.running, { steps, path: this.pathOf(name) }, this.spoken)
        return work(inner)
      })
      inner?.check()
      return value
    })
  }

  /** Throws what stopped the run, or what left it: also where the agent has caught that before. */
  check(): void {
    this.running.run.check()
    if (this.#left !== undefined) throw this.#left.thrown
  }

  /** Remembers what leaves the run without ending it. */
  protected async leaving<Value>(work: () => Promise<Value>): Promise<Value> {
    try {
      return await work()
    } catch (error) {
      if (leavesRun(error)) this.#left = { thrown: error }
      throw error
    }
  }

  async #enter(name: string, child: ChildRun): Promise<void> {
    this.take(name)
    this.check()
    if (child.dropsLabels === true) await checkVouched(this.running.face.core, child)
  }

  async #runChild(name: string, child: ChildRun): Promise<ChildResult> {
    const result = await this.leaving(() => this.#step(name, child))
    this.spoken.gather(result.labels)
    this.running.run.check()
    return result
  }

  #effectOf(name: string): string {
    return `${this.running.run.tree.rootExecutionId}/${this.pathOf(name)}`
  }

  /** A finished run below is one step: a replay takes its result and goes not into it. */
  async #step(name: string, child: ChildRun): Promise<ChildResult> {
    const { steps } = this.place
    if (steps.recorded(name) === 'done') return steps.replay<ChildResult>(name)
    return steps.branch(name, async (inner) => {
      const settled = await inner
        .branch('run', (below) => this.running.nest(this.#nested(name, child, below)))
        .then(
          (done) => ({ result: resultOf(done, child) }),
          (error: unknown) => {
            if (leavesRun(error)) throw error
            return { error }
          },
        )
      // a stop of the tree is no result of this step: whoever comes here again meets it again
      this.running.run.check()
      return inner.step('call', () => {
        if ('error' in settled) throw settled.error
        return settled.result
      })
    })
  }

  #nested(name: string, child: ChildRun, steps: Steps): NestedRun {
    const { face, run } = this.running
    return {
      face,
      parent: run,
      agent: child.agent,
      version: child.version,
      input: child.input ?? {},
      followUp: child.followUp,
      output: child.output ?? null,
      files: child.files ?? [],
      tools: child.tools ?? [],
      runContext: child.runContext,
      resources: undefined,
      labels: child.labels ?? this.spoken.labels,
      hookSet: run.options.hookSet,
      gatePoints: run.options.gatePoints,
      signal: undefined,
      modelsChecked: true,
      pausable: run.options.pausable,
      steps,
      path: this.pathOf(name),
    }
  }

  protected pathOf(name: string): string {
    return this.place.path === '' ? name : `${this.place.path}/${name}`
  }

  /** Names become paths: one that is used twice would be taken for the other on a replay. */
  protected take(name: string): void {
    const known = this.#names.has(name)
    if (!known && typeof name === 'string' && NAME.test(name)) {
      this.#names.add(name)
      return
    }
    const shown = escapeControl(String(name), 100)
    throw new SluiceError(
      'INVALID_CONFIG',
      known ? `The name "${shown}" of a part of a run is used twice.` : `"${shown}" is no name of a part of a run.`,
      {
        reason: 'work.name',
        hint: 'Use each name once: letters, digits, _, - and ., at most 80 characters.',
        details: { name: shown, agent: this.running.agent.code },
      },
    )
  }
}

/** The work of a run itself. */
export class RunWork extends WorkBranch implements AgentWork {
  #states = 0
  #turned = false

  constructor(running: RunningAgent) {
    const spoken = new Spoken(running.run.options.labels)
    super(running, { steps: running.steps, path: running.path }, spoken)
    running.run.call = spoken
  }

  async describe(code: string): Promise<AgentDescription> {
    this.check()
    const { version, definition } = await this.running.face.core.agents.resolve(code)
    const { agentType, description, input, output } = definition
    return Object.freeze({ code, version, agentType, description, input, output })
  }

  async turn(turn: OwnTurn): Promise<OwnTurnResult> {
    if (this.#turned || this.spoken.messages.length > 0)
      throw new SluiceError('INVALID_CONFIG', 'An agent takes one turn of its own, and says nothing beside it.', {
        reason: 'work.turn',
        details: { agent: this.running.agent.code },
      })
    this.#turned = true
    this.check()
    return this.leaving(() => takeOwnTurn(this.running, turn, this.spoken.labels))
  }

  async say(messages: readonly Message[], by: string | null): Promise<void> {
    if (this.#turned)
      throw new SluiceError('INVALID_CONFIG', 'The turn of an agent says everything by itself.', {
        reason: 'work.say',
        details: { agent: this.running.agent.code },
      })
    // also what was said before a stop is on record: it is written when the run ends
    for (const message of messages) this.spoken.add(message, by)
    this.check()
    await this.running.recorder.closeRound(this.spoken)
  }

  async checkpoint(state: JsonValue): Promise<void> {
    this.check()
    const { run } = this.running
    const { tree, facts } = run
    await this.place.steps.step(`state${++this.#states}`, async () => {
      const { store, clock } = tree.parts
      await store.executions
        .update(facts.executionId as string, { currentState: state, updatedAt: clock.now() })
        .catch((fault: unknown) => noteStore(tree, facts.executionId, fault))
      return null
    })
  }

  /** True where a turn has said what there is to say. */
  get turned(): boolean {
    return this.#turned
  }
}

function resultOf({ result, labels, run }: NestedResult, child: ChildRun): ChildResult {
  const whole: ChildResult = {
    executionId: result.executionId,
    agentCode: result.agentCode,
    agentVersion: result.agentVersion,
    text: result.text,
    ...(result.output === undefined ? {} : { output: result.output }),
    messages: newMessages(result.messages, child),
    finishReason: result.finishReason,
    usage: run.usage,
    labels,
    ...(result.details === null ? {} : { details: result.details }),
  }
  return child.dropsLabels === true ? withoutLabels(whole) : whole
}

/** The run was given its history: what it added comes behind it. */
function newMessages(messages: readonly Message[], { followUp }: ChildRun): readonly Message[] {
  if (followUp === undefined) return messages
  const from = messages.findLastIndex(
    ({ role, content }) =>
      role === 'user' && content.some((part) => part.type === 'text' && part.text === followUp.text),
  )
  return from < 0 ? messages : messages.slice(from)
}
