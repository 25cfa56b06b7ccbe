import type { FinishReason, ModelProvider } from '@sluice/core'

/** The wire protocols of this package. */
export type BuiltInProtocol =
  | 'openai-responses'
  | 'openai-chat'
  | 'anthropic-messages'
  | 'google-generate-content'
  | 'ollama-chat'
  | 'oci-generic'
  | 'oci-cohere'

/** An SDK that a protocol is spoken through: an optional peer, imported at the first request. */
export interface SdkPackage {
  readonly package: string
  /** The range that `npm install` is told where it is missing. */
  readonly range: string
}

/** How schemas travel (G-45, G-46, CASE-17). What the wire does not carry is enforced by core on arguments and answers. */
export interface SchemaBehaviour {
  /** `strict`: strict mode wherever it can express the schema, else as written. `written`: as the author wrote it. */
  readonly tools: 'strict' | 'written'
  /** Where an answer schema goes; `null` where the protocol takes none and it is refused (`SCHEMA_UNSUPPORTED`). */
  readonly output: string | null
  /**
   * `strict`: the provider promises the schema; what strict mode cannot say is refused when it is defined. `written`: the
   * provider is shown the schema, core validates the reply.
   */
  readonly outputForm: 'strict' | 'written' | null
  /** What becomes of a key that may be absent: `nullable` makes it required and lets it be `null`, which is undone on the way back. */
  readonly optionalKeys: 'nullable' | 'absent'
  /** Keywords of JSON Schema that the strict form carries; `null`: all of them, as written. */
  readonly constraints: readonly string[] | null
  /** Values of `format` that it carries; `null`: any. */
  readonly formats: readonly string[] | null
  readonly recursion: boolean
  readonly bounds: {
    readonly minItems: number | null
    readonly depth: number | null
    readonly properties: number | null
    readonly enumValues: number | null
  }
}

/** How a call and its result find each other (G-23, CASE-16). */
export interface CallIdBehaviour {
  /** False where the protocol has no ids: the adapter makes them, unique within the conversation. */
  readonly given: boolean
  /** What pairs a result with its call on the wire. */
  readonly pairedBy: 'id' | 'name and order' | 'the call itself'
  /** Longest id that is sent as it is; any other goes out as a digest of itself. `null`: no id goes out. */
  readonly longest: number | null
}

/** How reasoning is asked for, and what of it goes back (G-49 to G-52). */
export interface ReasoningBehaviour {
  /** Member of the body that asks for it. */
  readonly member: string
  /** `effort`: levels as words; `budget`: levels as tokens; `switch`: on or off; `none`: it cannot be asked for. */
  readonly form: 'effort' | 'budget' | 'switch' | 'none'
  /** Tokens for each level, where the form is `budget`. */
  readonly budgets: { readonly low: number; readonly medium: number; readonly high: number } | null
  /** What goes back to the same provider, and to no other; `null`: nothing. */
  readonly goesBack: string | null
}

/** In what a wire protocol differs, as data: one row of {@link PROTOCOL_BEHAVIOUR}. */
export interface ProtocolBehaviour {
  readonly protocol: BuiltInProtocol
  readonly title: string
  /** Entry point of this package, and the call that makes the adapter. */
  readonly entry: string
  readonly factory: string
  /** Id of the provider where the caller gives none. */
  readonly id: string
  readonly sdks: readonly [SdkPackage, ...SdkPackage[]]
  /** Variables of the environment, read at the first request. */
  readonly environment: { readonly apiKey: readonly string[]; readonly others: readonly string[] }
  /** What follows where a handler throws, and where the bound of tool calls is met, and the runtime says `provider` (G-33, G-37). */
  readonly defaults: ModelProvider['defaults']
  /**
   * The provider's own words for why a reply ended (G-14). A reply with tool calls that says `stop` ended in `tool_calls`.
   */
  readonly finishReasons: Readonly<Record<string, FinishReason>>
  /** A word that stands nowhere: it is passed through, or means `stop`. */
  readonly otherFinish: 'passed' | 'stop'
  readonly schemas: SchemaBehaviour
  readonly callIds: CallIdBehaviour
  /** How a result that failed is marked; `null` where the protocol has no flag and the text alone tells. */
  readonly errorFlag: string | null
  /** Media types of files that a user message may carry. */
  readonly files: readonly string[]
  /** More than any image costs; `null`: images have no bound, and are refused under a money limit. */
  readonly imageTokensAtMost: number | null
  readonly reasoning: ReasoningBehaviour
  /** Whether tools can run at the provider (`hostedTool`). */
  readonly hostedTools: boolean
  /** Member of the body for the output cap, which every request carries. */
  readonly outputCap: string
  /** Member of the body for stop sequences; `null` where there are none and they are refused. */
  readonly stopSequences: string | null
  /** What keeps the provider from keeping state; `null` where it keeps none. */
  readonly stateOff: string | null
  readonly streams: 'SSE' | 'NDJSON'
  /** How the provider counts tokens; ours are disjoint, and output holds its reasoning (CASE-11). */
  readonly usage: 'cached inside input' | 'classes disjoint' | 'no cache'
}
