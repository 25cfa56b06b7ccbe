import type { HostedToolInfo, JsonObject, JsonValue, PluginHost } from '@sluice/core'

/** What the switch keeps in the state of a run: rows that what is asked later falls under, too. */
interface SwitchState {
  /** Code of the agent that the tree was started with. */
  readonly agent: string | null
  /** Hosted tools of the requests that are open, by effect. */
  readonly hosted: readonly (readonly [effectId: string, codes: readonly string[]])[]
}

type RunHost = Pick<PluginHost, 'run'>

/** Keeps the agent that the tree was started with. */
export function noteRootAgent(host: RunHost, agent: string): void {
  change(host, (state) => ({ ...state, agent }))
}

/** Code of the agent that the tree was started with. */
export function rootAgent(host: RunHost): string | null {
  return read(host.run?.state.get()).agent
}

/** Keeps which hosted tools a request offers, so that they can be asked about while it is open. */
export function noteHostedTools(host: RunHost, effectId: string, tools: readonly HostedToolInfo[]): void {
  if (tools.length === 0) return
  const codes = tools.map(({ code }) => code)
  change(host, (state) => ({ ...state, hosted: [...without(state, effectId), [effectId, codes]] }))
}

/** Codes of the hosted tools that an open request offers. */
export function hostedToolsOf(host: RunHost, effectId: string): readonly string[] {
  return read(host.run?.state.get()).hosted.find(([id]) => id === effectId)?.[1] ?? []
}

/** The request is closed. */
export function forgetHostedTools(host: RunHost, effectId: string): void {
  if (hostedToolsOf(host, effectId).length > 0)
    change(host, (state) => ({ ...state, hosted: without(state, effectId) }))
}

function without({ hosted }: SwitchState, effectId: string): SwitchState['hosted'] {
  return hosted.filter(([id]) => id !== effectId)
}

function change(host: RunHost, next: (state: SwitchState) => SwitchState): void {
  host.run?.state.update((current): JsonValue => {
    const { agent, hosted } = next(read(current))
    return { agent, ...(hosted.length === 0 ? {} : { hosted: hosted.map(([id, codes]) => [id, [...codes]]) }) }
  })
}

/** Only this plugin writes its state. */
function read(value: JsonValue | undefined): SwitchState {
  const state = (value ?? {}) as JsonObject & Partial<SwitchState>
  return { agent: state.agent ?? null, hosted: state.hosted ?? [] }
}
