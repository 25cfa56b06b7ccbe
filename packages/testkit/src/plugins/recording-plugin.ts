import type { HookPoint, Hooks, PluginInstance, RunEvent } from '@sluice/core'
import { definePlugin, HOOK_POINTS } from '@sluice/core'
import { testkitError } from '../testkit-error.js'

/** One thing that happened. */
export interface RecordedHook {
  /** The hook point, or `callback` for the event callback of the runtime. */
  readonly point: HookPoint | 'callback'
  /** What the point was told; a prompt for `augmentSystemPrompt`, an event for `onEvent` and `callback`. */
  readonly context: unknown
  /** One line: the point, and what it was about. */
  readonly line: string
}

/** A plugin that records, and what it has recorded. */
export interface HookRecorder {
  readonly plugin: PluginInstance
  /** Everything in the order in which it happened, hooks and events in one timeline. */
  readonly entries: readonly RecordedHook[]
  /** The lines of the entries: `beforeToolCall ap_get_invoice`, `onEvent tool_result`. */
  readonly lines: readonly string[]
  /** For `runtime.events.set(recorder.callback)`: records events beside the hooks. */
  readonly callback: (event: RunEvent) => void
  at(point: HookPoint | 'callback'): readonly RecordedHook[]
  /** Checks that these lines came in this order, with any others between. @throws ORDER_DIFFERS with the timeline */
  assertOrder(...lines: readonly string[]): void
  clear(): void
}

/** Options of {@link recordingPlugin}. */
export interface RecordingPluginOptions {
  /** @default 'recording-plugin' */
  readonly name?: string
  /** Stage of its gates. @default 0 */
  readonly stage?: number
  /**
   * Points to tap. By default all but `whileInFlight`, whose tap makes the runtime ask it again and again. A tap at
   * `inspectReply` makes `stream` show checked text, one at `inspectToolInput` wants arguments that are plain data.
   */
  readonly points?: readonly HookPoint[]
}

/** Makes a plugin that passes everywhere and records each asking and telling (T-14). */
export function recordingPlugin(options: RecordingPluginOptions = {}): HookRecorder {
  const points =
    options.points ?? (Object.keys(HOOK_POINTS) as HookPoint[]).filter((point) => point !== 'whileInFlight')
  let entries: RecordedHook[] = []
  const record = (point: RecordedHook['point'], context: unknown) => {
    entries.push(Object.freeze({ point, context, line: describeHook(point, context) }))
  }
  const plugin = definePlugin({
    name: options.name ?? 'recording-plugin',
    hookApi: 1,
    apply(hooks) {
      for (const point of points) tap(hooks, point, options.stage, record)
    },
  })()

  return {
    plugin,
    get entries() {
      return [...entries]
    },
    get lines() {
      return entries.map((entry) => entry.line)
    },
    callback: (event) => record('callback', event),
    at: (point) => entries.filter((entry) => entry.point === point),
    assertOrder(...lines) {
      let from = 0
      for (const line of lines) {
        const found = entries.findIndex((entry, index) => index >= from && entry.line === line)
        if (found === -1) {
          const timeline = entries.map((entry, index) => `  ${index + 1}. ${entry.line}`).join('\n')
          throw testkitError(
            'ORDER_DIFFERS',
            `"${line}" did not come after ${from === 0 ? 'the start' : `entry ${from}`}:\n${timeline}`,
          )
        }
        from = found + 1
      }
    },
    clear() {
      entries = []
    },
  }
}

function tap(
  hooks: Hooks,
  point: HookPoint,
  stage: number | undefined,
  record: (point: HookPoint, context: unknown) => void,
): void {
  const options = { name: 'record', ...(stage === undefined || HOOK_POINTS[point].kind !== 'gate' ? {} : { stage }) }
  if (point === 'augmentSystemPrompt') hooks[point].tap(options, (prompt) => record(point, prompt))
  else (hooks[point] as Hooks['onStop']).tap(options, (context) => record(point, context))
}

/** What a hook was about: the first of these that it has. */
const SUBJECTS = ['toolCode', 'type', 'code', 'status', 'model'] as const

function describeHook(point: string, context: unknown): string {
  if (context === null || typeof context !== 'object') return point
  const fields = context as Readonly<Record<string, unknown>>
  const subject = SUBJECTS.map((name) => fields[name]).find((value) => typeof value === 'string')
  return subject === undefined ? point : `${point} ${String(subject)}`
}
