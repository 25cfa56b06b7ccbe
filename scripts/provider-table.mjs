// The generated parts of docs/providers.md, made from the table of behaviour in packages/providers.
//
//   node scripts/provider-table.mjs            writes them
//   node scripts/provider-table.mjs --check    fails where the page is stale
//
// The page is written by hand but for what stands between `<!-- made: NAME -->` and `<!-- /made -->`.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tsImport } from 'tsx/esm/api'
import { root } from './lib/steps.mjs'

const page = join(root, 'docs', 'providers.md')
const table = join(root, 'packages/providers/src/behaviour/index.ts')
const { PROTOCOL_BEHAVIOUR, OPENAI_SERVERS } = await tsImport(table, import.meta.url)
const rows = Object.values(PROTOCOL_BEHAVIOUR)
const servers = Object.values(OPENAI_SERVERS)

const code = (text) => `\`${text}\``
const list = (items, none = 'none') => (items.length === 0 ? none : items.map(code).join(', '))
const cell = (text) => String(text).replaceAll('|', '\\|')

function grid(head, lines) {
  const line = (cells) => `| ${cells.map(cell).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...lines.map(line)].join('\n')
}

/** One line a trait, one column a protocol. */
function traits(lines) {
  return grid(
    ['', ...rows.map(({ protocol }) => code(protocol))],
    lines.map(([trait, of]) => [trait, ...rows.map(of)]),
  )
}

const shortType = (type) => type.replace(/^(image|application|text)\//, '').replace('plain', 'text')
const answers = ({ output, outputForm }) => (output === null ? 'refused' : `${outputForm}, ${code(output)}`)
const ids = ({ given, pairedBy, longest }) =>
  `${given ? 'its own' : 'ours'}, paired by ${pairedBy}${longest === null ? '' : `, at most ${longest} characters`}`
const asked = ({ form, member, budgets }) =>
  form === 'none'
    ? 'no'
    : `${form}, ${code(member)}${budgets === null ? '' : ` (${Object.values(budgets).join(', ')} tokens)`}`
const words = (reasons) =>
  list(
    Object.entries(reasons)
      .filter(([word, reason]) => word !== reason)
      .map(([word, reason]) => `${word} → ${reason}`),
    'as they are',
  )
const bound = (row) =>
  row.files.some((type) => type.startsWith('image/'))
    ? (row.imageTokensAtMost ?? 'none: refused under a money limit')
    : '–'

const blocks = {
  protocols: () =>
    grid(
      ['protocol', 'adapter', 'from', 'SDK', 'key', 'handler throws', 'bound of tool calls'],
      rows.map((row) => [
        code(row.protocol),
        code(row.factory),
        code(row.entry),
        list(row.sdks.map((sdk) => sdk.package)),
        list(row.environment.apiKey, 'signed requests'),
        code(row.defaults.onToolError),
        code(row.defaults.onToolLimit),
      ]),
    ),
  capabilities: () =>
    traits([
      ['text, system prompt, tools, several calls a round, streams', () => 'yes'],
      ['files of a user message', ({ files }) => list(files.map(shortType), 'no')],
      ['most tokens of an image', bound],
      ['answer by schema', ({ schemas }) => answers(schemas)],
      ['reasoning', ({ reasoning }) => asked(reasoning)],
      ['reasoning that goes back', ({ reasoning }) => reasoning.goesBack ?? 'none'],
      ['failed result marked', ({ errorFlag }) => (errorFlag === null ? 'by its text' : code(errorFlag))],
      ['tools at the provider', ({ hostedTools }) => (hostedTools ? 'yes, declared' : 'no')],
      ['stop sequences', ({ stopSequences }) => (stopSequences === null ? 'refused' : code(stopSequences))],
      ['output cap', ({ outputCap }) => code(outputCap)],
      ['state at the provider', ({ stateOff }) => (stateOff === null ? 'none' : `off, ${code(stateOff)}`)],
    ]),
  behaviour: () =>
    traits([
      ['finish words', ({ finishReasons }) => words(finishReasons)],
      ['other finish words', ({ otherFinish }) => (otherFinish === 'passed' ? 'passed through' : 'read as `stop`')],
      ['tool schemas', ({ schemas }) => (schemas.tools === 'strict' ? 'strict where they can be' : 'as written')],
      [
        'key that may be absent',
        ({ schemas }) => (schemas.optionalKeys === 'nullable' ? 'required, may be null' : 'may be absent'),
      ],
      [
        'keywords of answers on the wire',
        ({ schemas }) =>
          schemas.output === null ? '–' : schemas.constraints === null ? 'all' : list(schemas.constraints),
      ],
      ['recursive answers', ({ schemas }) => (schemas.output === null ? '–' : schemas.recursion ? 'yes' : 'refused')],
      ['ids of tool calls', ({ callIds }) => ids(callIds)],
      ['token figures', ({ usage }) => usage],
      ['wire of streams', ({ streams }) => streams],
    ]),
  servers: () =>
    grid(
      ['server', 'adapter', 'protocols', 'address', 'key', 'output cap on Chat', 'reasoning on Chat', 'tools on Chat'],
      servers.map((server) => [
        server.title,
        code(server.factory),
        list(server.protocols),
        server.baseUrl === null ? 'of the SDK, or `baseUrl`' : code(server.baseUrl),
        code(server.keyVariable),
        code(server.outputCap),
        code(server.reasoning) + (server.levels.medium === undefined ? '' : `, medium as ${server.levels.medium}`),
        server.strictTools ? 'strict where they can be' : 'as written',
      ]),
    ),
}
for (const entry of new Set(rows.map((row) => row.entry))) {
  const [row] = rows.filter((each) => each.entry === entry)
  const packages = row.sdks.map((sdk) => `"${sdk.package}@${sdk.range}"`).join(' ')
  const { apiKey, others } = row.environment
  blocks[`connect ${row.id}`] = () =>
    [
      '```sh',
      `npm install @sluice/core @sluice/providers ${packages}`,
      '```',
      '',
      `Environment: ${list([...apiKey, ...others], 'nothing is read')}.`,
    ].join('\n')
}

const made = /<!-- made: ([a-z ]+) -->\n[^]*?<!-- \/made -->/g
const stored = readFileSync(page, 'utf8')
const unused = new Set(Object.keys(blocks))
const text = stored.replace(made, (_whole, name) => {
  if (!Object.hasOwn(blocks, name)) throw new Error(`docs/providers.md asks for "${name}", which is not made`)
  unused.delete(name)
  return `<!-- made: ${name} -->\n${blocks[name]()}\n<!-- /made -->`
})
if (unused.size > 0) {
  console.error(`provider-table: docs/providers.md has no place for: ${[...unused].join(', ')}`)
  process.exitCode = 1
} else if (!process.argv.includes('--check')) {
  writeFileSync(page, text)
  console.log('provider-table: wrote docs/providers.md')
} else if (stored === text) {
  console.log('provider-table: the page is up to date')
} else {
  console.error('provider-table: docs/providers.md is stale: run `node scripts/provider-table.mjs`')
  process.exitCode = 1
}
