import type { AgentDefinition } from '../agents/agent-definition.js'
import type { Caller } from '../context/caller.js'
import type { OfferedRunContext } from '../context/run-context.js'
import { Faults } from '../errors/faults.js'
import type { Limits } from '../generate/settings.js'
import { isPlainJson, isPlainObject } from '../internal/json.js'
import type { JsonObject } from '../internal/json.js'
import { isWellFormedJson } from '../internal/well-formed-text.js'
import type { Label } from '../messages/label.js'
import type { FilePart } from '../messages/message.js'
import { compileValidator } from '../tools/compile-validator.js'
import type { CompiledSchema } from '../tools/compile-validator.js'
import type { SchemaOutput, SchemaSource } from '../tools/schema.js'
import { readUntrusted } from './untrusted-input.js'
import type { OfferedInput } from './untrusted-input.js'

/** Options of `execute` and `stream`. */
export interface ExecuteOptions<
  Input = unknown,
  Output = unknown,
  Schema extends SchemaSource | undefined = undefined,
> {
  /** The code of an agent, or its definition; with a definition, input and output are typed. */
  readonly agent: string | AgentDefinition<Input, Output>
  /** Another version than the active one. */
  readonly version?: number
  /**
   * Fills the placeholders of the prompts; checked against the agent's input schema. Default `{}`. A text that did not come
   * from the caller is given as `untrusted(text, source)`.
   */
  readonly input?: OfferedInput<Input>
  /** A message to the conversation of `sessionId`, in place of input. */
  readonly followUp?: string
  /** Groups runs. Without one, a new session is opened; a nested run joins that of its parent. */
  readonly sessionId?: string
  /** Schema of the answer for this run, in place of the agent's own. */
  readonly output?: Schema
  /** Documents and images for the user message. */
  readonly files?: readonly FilePart[]
  /** Values that the model must not choose: bound to the run and to its session. */
  readonly runContext?: OfferedRunContext
  /** Who starts the run. A nested run has the caller of its tree. */
  readonly caller?: Caller
  /** What handlers get as `tool.resources`: open transactions, clients. Never stored. */
  readonly resources?: unknown
  /** Aborts the run. */
  readonly signal?: AbortSignal
  /** Lowers the runtime's limits for this run. */
  readonly limits?: Partial<Limits>
}

/** The output type of a run: that of the call's own schema, else the agent's. */
export type OutputOfCall<Output, Schema> = [Schema] extends [SchemaSource] ? SchemaOutput<Schema> : Output

const KEYS: readonly string[] = [
  'agent',
  'version',
  'input',
  'followUp',
  'sessionId',
  'output',
  'files',
  'runContext',
  'caller',
  'resources',
  'signal',
  'limits',
]

/** No store takes such a text, so it is refused before any gate is asked (CASE-20). */
const UNPAIRED = 'must not hold unpaired surrogates: pass the text through toWellFormed()'

/** Options whose shape has been checked. */
export interface CheckedOptions {
  readonly agent: string | AgentDefinition
  readonly version: number | undefined
  readonly input: JsonObject
  /** Of what was `untrusted` in the input. */
  readonly inputLabels: readonly Label[]
  readonly followUp: string | undefined
  readonly sessionId: string | undefined
  readonly output: CompiledSchema | null
  readonly files: readonly FilePart[]
  readonly runContext: OfferedRunContext | undefined
  readonly caller: Caller | undefined
  readonly resources: unknown
  readonly signal: AbortSignal | undefined
  readonly limits: unknown
}

/** Checks the shape of the options, all faults at once. @throws INVALID_CONFIG (`reason` `execute.options`) */
export function checkExecuteOptions(
  options: ExecuteOptions<never, unknown, SchemaSource | undefined>,
  call = 'execute',
): CheckedOptions {
  const faults = new Faults()
  const given: Readonly<Record<string, unknown>> = isPlainObject(options) ? options : {}
  if (given !== (options as unknown)) faults.add(call, 'takes one plain object of options')
  for (const key of Object.keys(given))
    if (!KEYS.includes(key)) faults.add(key, `is not known; known are ${KEYS.join(', ')}`)
  const { agent, version, input, followUp, sessionId, files, signal } = given
  if (!(typeof agent === 'string' && agent !== '') && !(agent !== null && typeof agent === 'object'))
    faults.add('agent', 'must be the code of an agent, or its definition')
  if (version !== undefined && !(Number.isSafeInteger(version) && (version as number) > 0))
    faults.add('version', 'must be a whole number above 0')
  if (input !== undefined && !(isPlainObject(input) && isPlainJson(input)))
    faults.add('input', 'must be a plain object of JSON data')
  else if (!isWellFormedJson(input)) faults.add('input', UNPAIRED)
  if (followUp !== undefined && !(typeof followUp === 'string' && followUp !== ''))
    faults.add('followUp', 'must be a text that is not empty')
  else if (!isWellFormedJson(followUp)) faults.add('followUp', UNPAIRED)
  if (followUp !== undefined && input !== undefined && isPlainObject(input) && Object.keys(input).length > 0)
    faults.add('input', 'has no effect beside followUp: the templates are not rendered again')
  if (sessionId !== undefined && !(typeof sessionId === 'string' && sessionId !== ''))
    faults.add('sessionId', 'must be a text that is not empty')
  if (signal !== undefined && !(signal instanceof AbortSignal)) faults.add('signal', 'must be an AbortSignal')
  checkFiles(files, faults)
  let output: CompiledSchema | null = null
  if (given.output !== undefined) {
    try {
      output = compileValidator(given.output as SchemaSource)
    } catch (error) {
      faults.add('output', error instanceof Error ? error.message : 'is no schema')
    }
  }
  faults.throwIfAny(`The options of ${call} are not acceptable`, { reason: 'execute.options' })
  const read = readUntrusted((input ?? {}) as JsonObject)
  return {
    ...(given as unknown as CheckedOptions),
    input: read.input,
    inputLabels: read.labels,
    output,
    files: (files ?? []) as readonly FilePart[],
  }
}

/** Files: base64 data of a media type. Which types a protocol takes is for its adapter to say. */
function checkFiles(files: unknown, faults: Faults): void {
  if (files === undefined) return
  if (!Array.isArray(files)) {
    faults.add('files', 'must be a list')
    return
  }
  for (const [index, file] of files.entries()) {
    const sound =
      isPlainObject(file) && file.type === 'file' && typeof file.mediaType === 'string' && typeof file.data === 'string'
    if (!sound) faults.add(`files.${index}`, "must be { type: 'file', mediaType, data } with base64 data")
    else if (!isWellFormedJson(file)) faults.add(`files.${index}`, UNPAIRED)
  }
}
