import { Faults, named } from '../errors/faults.js'
import type { ToolInfo } from '../hooks/hook-contexts.js'
import { digest } from '../internal/digest.js'
import type { MaybePromise } from '../internal/json.js'
import { checkCommonOptions, optionsRecord, sourceLabels } from './check-tool.js'
import { checkInputSchema } from './check-input-schema.js'
import { validatorOf } from './compile-validator.js'
import type { SchemaOutput, SchemaSource } from './schema.js'
import { convertSchema } from './schema.js'
import type {
  ToolContext,
  ToolCost,
  ToolDefinition,
  ToolEffect,
  ToolOffer,
  ToolRepeat,
  ToolResources,
} from './tool-definition.js'

const TOOL: unique symbol = Symbol.for('sluice.tool') as never

interface ToolOptionsBase<Source extends SchemaSource, Resources> {
  /** Letters, digits, `_` and `-`, 1 to 64 characters. */
  readonly code: string
  /** What the model reads to decide when to call it. */
  readonly description: string
  /** Schema of the arguments, which are always one object. */
  readonly input: Source
  /** Default `send`. */
  readonly effect?: ToolEffect
  /** Default `safe` for `read`, else `never`. */
  readonly repeat?: ToolRepeat
  /** Default false. */
  readonly untrusted?: boolean
  readonly cost?: ToolCost
  /** Milliseconds. Default: as long as the run. */
  readonly timeoutMs?: number
  readonly tags?: readonly string[]
  readonly requiresContext?: readonly string[]
  /**
   * A call of this tool that succeeds ends the call of the model: the calls behind it are not run and the model is not asked
   * again (`finishReason: 'ended_by_tool'`). It does not count against `maxToolCalls`. Default false.
   */
  readonly endsCall?: boolean
  authorize?(args: SchemaOutput<Source>, tool: ToolContext<Resources>): MaybePromise<void>
}

/** What {@link defineTool} takes: either a `handler`, or the code of an `agent` that the framework runs in its place. */
export type ToolOptions<Source extends SchemaSource = SchemaSource, Resources = ToolResources> = ToolOptionsBase<
  Source,
  Resources
> &
  (
    | {
        /** Returns text or JSON data, or what `refuse` made; `null` and `undefined` are faults. */
        handler(args: SchemaOutput<Source>, tool: ToolContext<Resources>): MaybePromise<unknown>
        readonly agent?: undefined
      }
    | {
        readonly agent: string
        readonly handler?: undefined
        /**
         * The owner vouches for the agent's answer: it carries no labels. Its answer schema must hold numbers, booleans and
         * enumerations only. Default false.
         */
        readonly dropsLabels?: boolean
      }
  )

const KEYS: readonly string[] = [
  ...['code', 'description', 'input', 'effect', 'repeat', 'untrusted', 'cost', 'timeoutMs', 'tags', 'requiresContext'],
  ...['authorize', 'handler', 'agent', 'endsCall', 'dropsLabels'],
]

/**
 * Defines a tool. The arguments of `handler` have the types that the schema promises; annotate its second parameter as
 * `ToolContext<MyResources>` to type `resources`. The result is frozen, and the schema has been converted.
 *
 * @example
 * const approve = defineTool({ code: 'ap_approve_invoice', description: 'Approves one invoice.', effect: 'write',
 *   input: z.object({ invoice: z.string() }), handler: ({ invoice }, tool) => approveInvoice(tool.resources.tx, invoice) })
 *
 * @throws INVALID_CONFIG (`reason` `tool.definition`) with all faults of the definition at once
 */
export function defineTool<Source extends SchemaSource, Resources = ToolResources>(
  options: ToolOptions<Source, Resources>,
): ToolDefinition<SchemaOutput<Source>> {
  const faults = new Faults()
  const given = optionsRecord(options, 'defineTool')
  faults.addUnknown(given, KEYS)
  checkCommonOptions(given, faults)
  checkRunOptions(given, faults)
  const converted = convertSchema(options.input)
  for (const fault of converted.faults) faults.add(`input${fault.path}`, fault.message)
  if (converted.faults.length === 0) checkInputSchema(converted.jsonSchema, faults)
  faults.throwIfAny(`${named('Tool', options.code)} is not acceptable`, {
    reason: 'tool.definition',
  })
  return build(options, validatorOf(options.input, converted.jsonSchema))
}

/** True for what {@link defineTool} made, also in another copy of the package. */
export function isToolDefinition(value: unknown): value is ToolDefinition {
  return value !== null && typeof value === 'object' && Object.hasOwn(value, TOOL)
}

function build<Source extends SchemaSource, Resources>(
  options: ToolOptions<Source, Resources>,
  input: ToolDefinition<SchemaOutput<Source>>['input'],
): ToolDefinition<SchemaOutput<Source>> {
  const { code, description } = options
  const effect = options.effect ?? 'send'
  const cost = options.cost === undefined ? null : Object.freeze({ usd: options.cost.usd })
  const agent = options.agent ?? null
  const untrusted = options.untrusted ?? false
  let offered: ToolOffer | undefined
  let definitionDigest: string | undefined
  let info: ToolInfo | undefined
  const digestOnce = () => {
    definitionDigest ??= digest({ code, description, schema: input.jsonSchema, effect, agent })
    return definitionDigest
  }
  const tool: ToolDefinition<SchemaOutput<Source>> = {
    kind: 'tool',
    code,
    description,
    effect,
    repeat: options.repeat ?? (effect === 'read' ? 'safe' : 'never'),
    untrusted,
    cost,
    timeoutMs: options.timeoutMs ?? null,
    tags: Object.freeze([...(options.tags ?? [])]),
    requiresContext: Object.freeze([...(options.requiresContext ?? [])]),
    agent,
    endsCall: options.endsCall ?? false,
    dropsLabels: (options as { readonly dropsLabels?: boolean }).dropsLabels ?? false,
    input,
    labels: sourceLabels('tool', code, untrusted),
    get offered() {
      offered ??= Object.freeze({ name: code, description, inputSchema: input.jsonSchema })
      return offered
    },
    get definitionDigest() {
      return digestOnce()
    },
    get info() {
      info ??= Object.freeze({ effect, untrusted, cost, definitionDigest: digestOnce(), agent })
      return info
    },
    ...functionsOf(options),
  }
  Object.defineProperty(tool, TOOL, { value: true })
  return Object.freeze(tool)
}

/** What a handler asks of `resources` is between it and the caller of `execute`: beyond this point they are any resources. */
function functionsOf<Source extends SchemaSource, Resources>(
  options: ToolOptions<Source, Resources>,
): Pick<ToolDefinition<SchemaOutput<Source>>, 'authorize' | 'handler'> {
  const { authorize, handler } = options as unknown as ToolOptions<Source>
  return {
    ...(authorize === undefined ? {} : { authorize }),
    ...(handler === undefined ? {} : { handler }),
  }
}

function checkRunOptions(options: Readonly<Record<string, unknown>>, faults: Faults): void {
  const { description, repeat, tags, requiresContext, handler, agent, authorize, timeoutMs } = options
  const { endsCall, dropsLabels } = options
  if (description === undefined)
    faults.add('description', 'is missing: the model reads it to decide when to call the tool')
  if (repeat !== undefined && repeat !== 'safe' && repeat !== 'by-key' && repeat !== 'never')
    faults.add('repeat', "must be 'safe', 'by-key' or 'never'")
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && Number.isFinite(timeoutMs) && timeoutMs > 0))
    faults.add('timeoutMs', 'must be a finite number of milliseconds above 0')
  if (tags !== undefined && !isListOfNames(tags)) faults.add('tags', 'must be a list of texts')
  if (requiresContext !== undefined && !isListOfNames(requiresContext))
    faults.add('requiresContext', 'must be a list of keys of the run context')
  if (endsCall !== undefined && typeof endsCall !== 'boolean') faults.add('endsCall', 'must be true or false')
  if (dropsLabels !== undefined && typeof dropsLabels !== 'boolean') faults.add('dropsLabels', 'must be true or false')
  else if (dropsLabels === true && agent === undefined)
    faults.add('dropsLabels', 'is for tools with an agent behind them')
  if (authorize !== undefined && typeof authorize !== 'function') faults.add('authorize', 'must be a function')
  if ((handler === undefined) === (agent === undefined))
    faults.add('handler', 'give either a handler or the code of an agent, not both and not neither')
  else if (handler !== undefined && typeof handler !== 'function') faults.add('handler', 'must be a function')
  else if (agent !== undefined && (typeof agent !== 'string' || agent === ''))
    faults.add('agent', 'must be the code of an agent')
}

function isListOfNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string' && item !== '')
}
