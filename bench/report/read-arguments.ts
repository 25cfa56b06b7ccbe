/** What was asked for on the command line. */
export interface BenchArguments {
  readonly quick: boolean
  readonly only: readonly string[]
  /** File for the figures as JSON. */
  readonly json: string | undefined
  /** File for the figures as a table in Markdown. */
  readonly table: string | undefined
}

const USAGE = 'Usage: pnpm bench [--quick] [--only PART_OF_A_NAME]... [--json FILE] [--table FILE]'

/** Reads the arguments; an unknown one ends the program with the usage. */
export function readArguments(args: readonly string[]): BenchArguments {
  let quick = false
  let json: string | undefined
  let table: string | undefined
  const only: string[] = []
  for (let index = 0; index < args.length; index++) {
    const argument = args[index]
    if (argument === '--') continue
    if (argument === '--quick') quick = true
    else if (argument === '--only' && args[index + 1] !== undefined) only.push(args[++index] as string)
    else if (argument === '--json' && args[index + 1] !== undefined) json = args[++index]
    else if (argument === '--table' && args[index + 1] !== undefined) table = args[++index]
    else {
      console.error(`bench: ${JSON.stringify(argument)} is not understood. ${USAGE}`)
      process.exit(2)
    }
  }
  return { quick, only, json, table }
}
