import { definePlugin, Stage } from '@sluice/core'
import type { AfterModelCallContext, PluginHost } from '@sluice/core'
import type { AuditApi } from './audit-api.js'
import { createAuditApi } from './audit-api.js'
import type { ReadAuditOptions } from './audit-options.js'
import { auditOptions, isAmount } from './audit-options.js'
import { unmark } from './effect-marks.js'
import { hasRunEnded } from './has-run-ended.js'
import { modelIntent, runIntent, toolIntent } from './intent-drafts.js'
import { modelOutcome, runOutcome, stopDraft, toolOutcome } from './outcome-drafts.js'
import { Recorder } from './recorder.js'

/** Name of the plugin: its storage lies under it. */
export const AUDIT_PLUGIN = 'hooks-audit'

/**
 * An append-only record of every run, gate answer, stop, model call and tool call, nested ones too, in a chain of hashes. The
 * intent of an effect is durable before the effect starts: where it cannot be written, the effect does not happen.
 *
 * All options may be left out. `runtime.plugin(audit)` gives its {@link AuditApi}.
 *
 * @throws INVALID_CONFIG from `createRuntime` for options that are none. Its gates veto with AUDIT_NOT_WRITTEN,
 * AUDIT_ENTRY_TOO_LARGE, AUDIT_LOG_INVALID, AUDIT_LOG_FOREIGN and AUDIT_KEY_UNKNOWN.
 *
 * @example
 * const runtime = await createRuntime({ plugins: [audit({ key: { id: 'k1', secret: createSecretKey(bytes) } })] })
 * const report = await runtime.plugin(audit).verify()
 */
export const audit = definePlugin<typeof auditOptions, AuditApi>({
  name: AUDIT_PLUGIN,
  hookApi: 1,
  version: '0.1.0',
  options: auditOptions,
  apply(hooks, host) {
    const recorder = new Recorder(host)
    const now = (): number => host.clock.now()
    const gate = { name: 'audit-intent', stage: Stage.record }

    hooks.beforeExecution.tap(gate, (context) =>
      recorder.intent(() => runIntent(now(), context), context, host.run?.state),
    )
    hooks.beforeModelCall.tap(gate, (context) =>
      recorder.intent(() => modelIntent(now(), context), context, host.run?.state),
    )
    hooks.inspectToolInput.tap(gate, (context) =>
      recorder.intent(() => toolIntent(now(), context, host.options.recordArguments), context, host.run?.state),
    )
    hooks.afterModelCall.tap('audit-outcome', async (context) => {
      unmark(host.run?.state, context)
      await recorder.write(recorder.logOf(context), modelOutcome(now(), context, costOf(host, context)))
    })
    hooks.afterToolCall.tap('audit-outcome', async (context) => {
      unmark(host.run?.state, context)
      await recorder.write(recorder.logOf(context), toolOutcome(now(), context))
    })
    hooks.onStop.tap('audit-stop', async (context) => {
      await recorder.write(recorder.logOf(context), stopDraft(now(), context))
    })
    hooks.afterExecution.tap('audit-outcome', async (context) => {
      const log = recorder.logOf(context)
      // told once more for a run whose process died while it told
      if (context.recovered && (await hasRunEnded(host.storage.log, log, context.rootExecutionId))) return
      await recorder.write(log, runOutcome(now(), context))
    })
    return { api: createAuditApi(host, recorder), dispose: () => recorder.heads.settled() }
  },
})

/** What the call cost, as the owner's function says it; a function that fails costs no entry. */
function costOf(host: PluginHost<ReadAuditOptions>, context: AfterModelCallContext): string | null {
  const { costUsd } = host.options
  if (costUsd === undefined) return null
  try {
    const usd = costUsd(context)
    if (usd === null || isAmount(usd)) return usd
    host.logger.warn({ effectId: context.effectId }, 'costUsd of the audit gave no amount; the entry has none')
  } catch (error) {
    host.logger.warn(
      { effectId: context.effectId, error: String(error) },
      'costUsd of the audit failed; the entry has no cost',
    )
  }
  return null
}
