import type { ASTNode } from '@marcbachmann/cel-js'
import { Environment, EvaluationError, ParseError } from '@marcbachmann/cel-js'
import { agentsError } from '../agents-error.js'
import { shown } from './fault-list.js'
import { celFormOf, originalSpellings } from './original-condition.js'
import type { Path, Resolved } from './path.js'
import type { ConditionReference } from './scan-condition.js'
import { scanCondition } from './scan-condition.js'

/** A condition, parsed: its references are variables, so no value can become a part of it (W-W1). */
export interface Condition {
  readonly text: string
  readonly paths: readonly Path[]
  /**
   * True or false; false also where it comes down to a path without a value (W-32).
   *
   * @throws WORKFLOW_CONDITION_FAILED where values cannot be compared, or the result is no boolean
   */
  holds(resolve: (path: Path) => Resolved): boolean
}

/** Reads conditions; its faults come as texts that name the character. */
export type ConditionParser = (
  text: unknown,
  roots: readonly string[],
) => Condition | { readonly faults: readonly string[] }

const MAX_LENGTH = 10_000
const LIMITS = { maxAstNodes: 5_000, maxDepth: 100 } as const
/** What a value that is not there leads to: of a path, of a field behind it, of an element. */
const UNRESOLVED: readonly string[] = ['no_such_key', 'index_out_of_bounds']
const ARITHMETIC: Readonly<Record<string, (left: number, right: number) => number>> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
  '%': (left, right) => left % right,
}

/** Makes a parser of conditions in CEL. Values of the state are JSON: its numbers mix with whole ones that stand in the text. */
export function createConditionParser(): ConditionParser {
  const environment = new Environment({ homogeneousAggregateLiterals: false, limits: LIMITS })
  for (const [operator, compute] of Object.entries(ARITHMETIC)) {
    const handler = (left: number | bigint, right: number | bigint): number => compute(Number(left), Number(right))
    environment.registerOperator(`double ${operator} int: double`, handler)
    environment.registerOperator(`int ${operator} double: double`, handler)
  }
  const variables = new Map<string, Environment>()
  return (text, roots) => {
    if (typeof text !== 'string' || text.trim() === '') return { faults: ['must be a condition in CEL'] }
    if (text.length > MAX_LENGTH) return { faults: [`is longer than ${MAX_LENGTH} characters`] }
    const { references, faults, bare } = scanCondition(text, roots)
    if (faults.length > 0) return { faults: withCelForm(faults, text, bare) }
    const variable = nameNotIn(bare)
    let own = variables.get(variable)
    if (own === undefined) {
      own = environment.clone().registerVariable(variable, 'map')
      variables.set(variable, own)
    }
    return compile(own, variable, text, references, bare)
  }
}

function compile(
  environment: Environment,
  variable: string,
  text: string,
  references: readonly ConditionReference[],
  bare: string,
): Condition | { readonly faults: readonly string[] } {
  const source = new RewrittenCondition(text, references, variable)
  let parsed: ReturnType<Environment['parse']>
  try {
    parsed = environment.parse(source.cel)
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
    return { faults: withCelForm([`${source.at(error.range?.start)}: ${sentence(error)}`], text, bare) }
  }
  const { valid, type, error } = parsed.check()
  if (!valid && error !== undefined)
    return { faults: withCelForm([`${source.at(error.range?.start)}: ${explained(error, variable)}`], text, bare) }
  if (type !== 'bool' && type !== 'dyn')
    return { faults: [`gives ${type ?? 'nothing'}, where true or false is wanted`] }
  const pattern = findCall(parsed.ast, 'matches')
  if (pattern !== undefined)
    return {
      faults: [
        `${source.at(pattern.start)}: \`matches\` is not to be had, since a regular expression can hold up the process; use startsWith, endsWith or contains`,
      ],
    }
  const paths = references.map(({ path }) => path)
  return Object.freeze({
    text,
    paths: Object.freeze(paths),
    holds: (resolve) => {
      const data: Record<string, unknown> = Object.create(null)
      for (const [index, path] of paths.entries()) {
        const resolved = resolve(path)
        if (resolved.found) data[`p${index}`] = resolved.value
      }
      let result: unknown
      try {
        result = parsed({ [variable]: data })
      } catch (thrown) {
        if (!(thrown instanceof EvaluationError)) throw thrown
        if (UNRESOLVED.includes(thrown.code)) return false
        throw failed(text, `${source.at(thrown.range?.start)}: ${thrown.summary}`)
      }
      if (typeof result !== 'boolean') throw failed(text, `its result is ${kindOf(result)}`)
      return result
    },
  } satisfies Condition)
}

/** A condition with variables in place of its references, and the way back to its own characters. */
class RewrittenCondition {
  readonly cel: string
  readonly #moves: { readonly from: number; readonly behind: number; readonly start: number; readonly end: number }[] =
    []

  constructor(text: string, references: readonly ConditionReference[], variable: string) {
    let cel = ''
    let from = 0
    for (const [index, { start, end }] of references.entries()) {
      cel += text.slice(from, start)
      const at = cel.length
      // the blank keeps what follows from becoming a part of the name
      cel += `${variable}.p${index} `
      this.#moves.push({ from: at, behind: cel.length, start, end })
      from = end
    }
    this.cel = cel + text.slice(from)
  }

  /** Where a place of the rewritten condition stands in the one that was given, counted from one. */
  at(place: number | undefined): string {
    const cel = place ?? 0
    const move = this.#moves.findLast(({ from }) => from <= cel)
    const own = move === undefined ? cel : cel < move.behind ? move.start : cel - move.behind + move.end
    return `character ${own + 1}`
  }
}

function withCelForm(faults: readonly string[], text: string, bare: string): readonly string[] {
  const cel = celFormOf(text)
  if (cel !== undefined && cel !== text.trim()) return [...faults, `is written in CEL as: ${cel}`]
  const spellings = originalSpellings(bare)
  return spellings.length === 0 ? faults : [...faults, `is to be written in CEL: ${spellings.join('; ')}`]
}

function sentence(error: ParseError): string {
  return `${error.summary.replace(/^Unexpected/, 'unexpected').replace(/^Expected/, 'expected')}`
}

function explained(error: { readonly code: string; readonly summary: string }, variable: string): string {
  const text = error.summary.replaceAll(`${variable}.`, '')
  return error.code === 'unknown_variable' ? `${text}; a value of the state is written {$.steps.name}` : text
}

/** A name that the condition does not use itself. */
function nameNotIn(bare: string): string {
  let name = 'state'
  while (bare.includes(name)) name += '_'
  return name
}

function failed(text: string, why: string): Error {
  return agentsError('WORKFLOW_CONDITION_FAILED', `The condition ${shown(text)} is neither true nor false: ${why}.`, {
    details: { condition: text.slice(0, 1_000), why },
    hint: 'Compare values of one kind: double(x) and string(x) convert, and an agent with an answer schema gives typed values.',
  })
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  return typeof value === 'string' ? 'a text' : 'a number'
}

function findCall(node: ASTNode, name: string): ASTNode | undefined {
  const { args } = node as { readonly args: unknown }
  if ((node.op === 'rcall' || node.op === 'call') && (args as unknown[])[0] === name) return node
  return findIn(args, name)
}

function findIn(value: unknown, name: string): ASTNode | undefined {
  if (Array.isArray(value)) {
    for (const one of value) {
      const found = findIn(one, name)
      if (found !== undefined) return found
    }
    return undefined
  }
  const node = value as { readonly op?: unknown } | null
  return typeof node === 'object' && node !== null && typeof node.op === 'string'
    ? findCall(node as ASTNode, name)
    : undefined
}
