// Which test holds which rule. Collects the numbers of rules and cases (H-1, G-W3, T-20, CASE-01) out of the titles of
// tests, reads the rules in scope from docs/behaviour-scope.json and writes docs/behaviour-coverage.md.
//
//   node scripts/behaviour-coverage.mjs            writes the page
//   node scripts/behaviour-coverage.mjs --check    fails where a rule has no test, a citation is unknown, or the page is stale
//
// A citation stands in the title of a `describe`, `it` or `test`, or, for tests that a table generates, in a comment
// directly above: `// cites: H-1, H-2`. Skipped tests and tests to do cite nothing.
// Scope: `{ "H-1": null, "B-24": "why there is no test" }`; null means that a test must cite the rule.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { root } from './lib/steps.mjs'

const check = process.argv.includes('--check')
const scopeFile = join(root, 'docs', 'behaviour-scope.json')
const pageFile = join(root, 'docs', 'behaviour-coverage.md')
const citation = /\b(?:CASE-\d\d|[A-Z]-W?\d{1,3})\b/g

const ignored = new Set(['node_modules', 'dist', '.types', '.cache', 'fixtures'])
const walk = (folder) =>
  existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
        if (ignored.has(entry.name)) return []
        const path = join(folder, entry.name)
        return entry.isDirectory() ? walk(path) : [path]
      })
    : []

/** Test files, and the contract suites that the testkit brings along as plain modules. */
const files = ['packages', 'examples', 'test']
  .flatMap((folder) => walk(join(root, folder)))
  .filter((path) => /\.test(-d)?\.ts$/.test(path) || (/[/\\]contracts[/\\]/.test(path) && path.endsWith('.ts')))
  .map((path) => relative(root, path).replaceAll('\\', '/'))
  .sort()

/** The index behind the string literal that starts at `at`, or `undefined` where none does. */
const stringEnd = (text, at) => {
  const quote = text[at]
  if (quote !== "'" && quote !== '"' && quote !== '`') return undefined
  for (let index = at + 1; index < text.length; index += 1) {
    if (text[index] === '\\') index += 1
    else if (text[index] === quote) return index + 1
  }
  return undefined
}

/** The index behind the bracket that closes the one at `at`. */
const groupEnd = (text, at) => {
  let depth = 0
  for (let index = at; index < text.length; index += 1) {
    const end = stringEnd(text, index)
    if (end !== undefined) {
      index = end - 1
      continue
    }
    if (text.startsWith('//', index)) {
      index = text.indexOf('\n', index)
      if (index < 0) return undefined
    } else if (text.startsWith('/*', index)) {
      index = text.indexOf('*/', index) + 1
      if (index < 1) return undefined
    } else if ('([{'.includes(text[index])) depth += 1
    else if (')]}'.includes(text[index])) {
      depth -= 1
      if (depth === 0) return index + 1
    }
  }
  return undefined
}

const skipSpace = (text, at) => {
  let index = at
  while (index < text.length && /\s/.test(text[index])) index += 1
  return index
}

/** Every test and describe of a file: `{ title, line, skipped }`; the title is missing where it is computed. */
const testsOf = (text) => {
  const found = []
  for (const match of text.matchAll(/(?<![\w.$'"`])(?:describe|it|test)((?:\s*\.\s*[a-zA-Z]+)*)\s*(?=[(`])/g)) {
    const skipped = /\.\s*(?:skip|todo)\b/.test(match[1])
    let at = match.index + match[0].length
    let title
    // `it.each([...])('title')` and `it.skipIf(x)('title')` have a group in front of the one with the title
    for (let group = 0; group < 3; group += 1) {
      if (text[at] === '`') {
        at = skipSpace(text, stringEnd(text, at) ?? text.length)
        continue
      }
      if (text[at] !== '(') break
      let start = skipSpace(text, at + 1)
      while (text.startsWith('//', start)) start = skipSpace(text, text.indexOf('\n', start) + 1 || text.length)
      const end = stringEnd(text, start)
      if (end !== undefined) {
        title = text.slice(start + 1, end - 1).replaceAll(/\\(['"`])/g, '$1')
        break
      }
      at = skipSpace(text, groupEnd(text, at) ?? text.length)
    }
    found.push({ title, at: match.index, skipped })
  }
  return found
}

const lineAt = (text, at) => text.slice(0, at).split('\n').length

const cited = new Map()
const problems = []
const cite = (rule, where) => {
  if (!cited.has(rule)) cited.set(rule, [])
  if (!cited.get(rule).includes(where)) cited.get(rule).push(where)
}

for (const file of files) {
  const text = readFileSync(join(root, file), 'utf8')
  const tests = testsOf(text)
  for (const { title, skipped } of tests) {
    if (skipped || title === undefined) continue
    for (const [rule] of title.matchAll(citation)) cite(rule, `${file}: ${title}`)
  }
  const lines = text.split('\n')
  for (const [index, line] of lines.entries()) {
    const comment = /^\s*\/\/\s*cites:\s*(.+)$/.exec(line)
    if (!comment) continue
    let next = index + 1
    while (next < lines.length && /^\s*(\/\/|$)/.test(lines[next])) next += 1
    const under = tests.find(({ at }) => lineAt(text, at) === next + 1)
    const generated = /^\s*(?:for\s*\(|.*\.forEach\(|.*\bfc\.)/.test(lines[next] ?? '')
    if (!under && !generated) {
      problems.push(
        `${file}:${index + 1}: a cites comment must stand directly above a test, a describe or a loop that makes tests`,
      )
      continue
    }
    if (under?.skipped) continue
    for (const [rule] of comment[1].matchAll(citation))
      cite(rule, `${file}: ${under?.title ?? `tests from line ${next + 1} on`}`)
  }
}

let scope
try {
  scope = JSON.parse(readFileSync(scopeFile, 'utf8'))
} catch (error) {
  console.error(`behaviour-coverage: docs/behaviour-scope.json cannot be read: ${error.message}`)
  process.exit(1)
}
for (const [rule, reason] of Object.entries(scope)) {
  if (reason !== null && (typeof reason !== 'string' || reason.trim() === '')) {
    problems.push(`docs/behaviour-scope.json: ${rule} must be null or say why there is no test`)
  }
}

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ').replaceAll('<', '&lt;')
const rules = Object.keys(scope)
const missing = rules.filter((rule) => scope[rule] === null && !cited.has(rule))
const beyond = [...cited.keys()].filter((rule) => !Object.hasOwn(scope, rule)).sort()

const rows = rules.map((rule) => {
  const tests = (cited.get(rule) ?? []).map(cell)
  const reason = scope[rule] === null ? [] : [`_${cell(scope[rule])}_`]
  return `| ${rule} | ${[...tests, ...reason].join('<br>') || '**no test yet**'} |`
})
const withTest = rules.filter((rule) => cited.has(rule)).length
const withReason = rules.filter((rule) => !cited.has(rule) && scope[rule] !== null).length
const page = `# Behaviour coverage

Made by \`pnpm coverage:rules\` from the titles of the tests and [behaviour-scope.json](behaviour-scope.json); do not edit.
The rules themselves are in [behaviour.md](behaviour.md).

${rules.length} rules and cases: ${withTest} cited by a test, ${withReason} with a reason why not, ${missing.length} open.

| rule | tests, or the reason why not |
| --- | --- |
${rows.join('\n')}
${beyond.length > 0 ? `\nCited beyond the scope: ${beyond.join(', ')}.\n` : ''}`

const summary = `${rules.length} rules: ${withTest} cited, ${withReason} with a reason, ${missing.length} open`
if (check) {
  if (missing.length > 0) problems.push(`no test cites ${missing.join(', ')}`)
  const current = existsSync(pageFile) ? readFileSync(pageFile, 'utf8') : ''
  if (current !== page) problems.push('docs/behaviour-coverage.md is stale: run `pnpm coverage:rules`')
} else {
  writeFileSync(pageFile, page)
}
for (const problem of problems) console.error(`behaviour-coverage: ${problem}`)
if (beyond.length > 0) console.log(`cited beyond the scope: ${beyond.join(', ')}`)
console.log(`${summary}${check ? '' : '; wrote docs/behaviour-coverage.md'}`)
process.exitCode = problems.length > 0 ? 1 : 0
