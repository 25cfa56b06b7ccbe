// The layer rules of .dependency-cruiser.mjs over the workspace.
//
//   node scripts/check-layers.mjs                 checks the sources
//   node scripts/check-layers.mjs --self-test     first proves on a made-up tree that each rule fires where it should
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import config, { rooms } from '../.dependency-cruiser.mjs'
import { root, runProgram } from './lib/steps.mjs'

const folders = ['packages', 'examples', 'test', 'bench'].filter((name) => existsSync(join(root, name)))

const cruise = (cwd, names, type) =>
  runProgram(
    process.execPath,
    [
      join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs'),
      '--config',
      '.dependency-cruiser.mjs',
      '--output-type',
      type,
      ...names,
    ],
    { cwd, env: { NO_COLOR: '1' } },
  )

/** Each entry: the files of a tree, and the rule that must name `from`. A row without a rule must pass. */
const core = 'packages/core/src'
const rows = [
  ...rooms.slice(0, -1).map((room, index) => ({
    rule: `room-${room}`,
    from: `${core}/${room}/a.ts`,
    files: {
      [`${core}/${room}/a.ts`]: `import { b } from '../${rooms[index + 1]}/b.js'\nexport const a = b\n`,
      [`${core}/${rooms[index + 1]}/b.ts`]: 'export const b = 1\n',
    },
  })),
  {
    rule: 'room-runtime',
    from: `${core}/runtime/up.ts`,
    files: {
      [`${core}/runtime/up.ts`]: "import { up } from '../index.js'\nexport const down = up\n",
      [`${core}/index.ts`]: 'export const up = 1\n',
    },
  },
  {
    rule: 'room-hooks',
    from: `${core}/hooks/types.ts`,
    files: {
      [`${core}/hooks/types.ts`]: "import type { Agent } from '../agents/agent.js'\nexport type X = Agent\n",
      [`${core}/agents/agent.ts`]: 'export type Agent = 1\n',
    },
  },
  {
    rule: undefined,
    from: `${core}/agents/down.ts`,
    files: {
      [`${core}/agents/down.ts`]: "import { hook } from '../hooks/hook.js'\nexport const d = hook\n",
      [`${core}/hooks/hook.ts`]: 'export const hook = 1\n',
    },
  },
  {
    rule: 'room-unknown',
    from: `${core}/attic/x.ts`,
    files: {
      [`${core}/attic/x.ts`]: "import { y } from '../internal/y.js'\nexport const x = y\n",
      [`${core}/internal/y.ts`]: 'export const y = 1\n',
    },
  },
  {
    rule: 'no-cycle-by-value',
    from: `${core}/tools/one.ts`,
    files: {
      [`${core}/tools/one.ts`]: "import { two } from './two.js'\nexport const one = () => two\n",
      [`${core}/tools/two.ts`]: "import { one } from './one.js'\nexport const two = () => one\n",
    },
  },
  {
    rule: undefined,
    from: `${core}/tools/same.ts`,
    files: {
      [`${core}/tools/same.ts`]: "import type { Other } from './other.js'\nexport type Same = Other | 1\n",
      [`${core}/tools/other.ts`]: "import type { Same } from './same.js'\nexport type Other = Same[]\n",
    },
  },
  {
    rule: 'no-cycle-across-folders',
    from: `${core}/store/contract.ts`,
    files: {
      [`${core}/store/contract.ts`]: "import type { M } from './memory/m.js'\nexport type C = M | 1\n",
      [`${core}/store/memory/m.ts`]: "import type { C } from '../contract.js'\nexport type M = C[]\n",
    },
  },
  {
    rule: 'package-by-name',
    from: 'packages/providers/src/openai/path.ts',
    files: {
      'packages/providers/src/openai/path.ts':
        "import { y } from '../../../core/src/internal/y.js'\nexport const x = y\n",
      [`${core}/internal/y.ts`]: 'export const y = 1\n',
    },
  },
  {
    rule: 'package-by-name',
    from: 'test/path.test.ts',
    files: {
      'test/path.test.ts': "import { y } from '../packages/core/src/internal/y.js'\nexport const x = y\n",
      [`${core}/internal/y.ts`]: 'export const y = 1\n',
    },
  },
  {
    rule: undefined,
    from: 'packages/providers/src/openai/name.ts',
    files: { 'packages/providers/src/openai/name.ts': "import { core } from '@sluice/core'\nexport const x = core\n" },
  },
  {
    rule: 'package-core',
    from: `${core}/tools/kit.test.ts`,
    files: { [`${core}/tools/kit.test.ts`]: "import { kit } from '@sluice/testkit'\nexport const x = kit\n" },
  },
  {
    rule: 'package-providers',
    from: 'packages/providers/src/openai/kit.ts',
    files: { 'packages/providers/src/openai/kit.ts': "import { kit } from '@sluice/testkit'\nexport const x = kit\n" },
  },
  {
    rule: undefined,
    from: 'packages/providers/src/openai/kit.test.ts',
    files: {
      'packages/providers/src/openai/kit.test.ts': "import { kit } from '@sluice/testkit'\nexport const x = kit\n",
    },
  },
  // the guards know the core alone, not one another
  ...['budget', 'rate-limit', 'audit', 'policy'].map((guard) => ({
    rule: `package-hooks-${guard}`,
    from: `packages/hooks-${guard}/src/kit.ts`,
    files: {
      [`packages/hooks-${guard}/src/kit.ts`]: "import { kit } from '@sluice/testkit'\nexport const x = kit\n",
    },
  })),
  {
    rule: 'package-agents',
    from: 'packages/agents/src/workflow/kit.ts',
    files: { 'packages/agents/src/workflow/kit.ts': "import { kit } from '@sluice/testkit'\nexport const x = kit\n" },
  },
  {
    rule: 'package-testkit',
    from: 'packages/testkit/src/adapter.ts',
    files: { 'packages/testkit/src/adapter.ts': "import { o } from '@sluice/providers/openai'\nexport const x = o\n" },
  },
  {
    rule: 'package-test-imports',
    from: 'packages/testkit/src/adapter.test.ts',
    files: {
      'packages/testkit/src/adapter.test.ts': "import { o } from '@sluice/providers/openai'\nexport const x = o\n",
    },
  },
  {
    rule: 'lowdb-only-in-its-store',
    from: `${core}/runtime/db.ts`,
    files: { [`${core}/runtime/db.ts`]: "import { Low } from 'lowdb'\nexport const x = Low\n" },
  },
  {
    rule: undefined,
    from: `${core}/store/lowdb/db.ts`,
    files: { [`${core}/store/lowdb/db.ts`]: "import { Low } from 'lowdb'\nexport const x = Low\n" },
  },
  {
    rule: 'lowdb-store-on-demand',
    from: `${core}/runtime/eager.ts`,
    files: {
      [`${core}/runtime/eager.ts`]: "import { s } from '../store/lowdb/s.js'\nexport const x = s\n",
      [`${core}/store/lowdb/s.ts`]: 'export const s = 1\nexport type S = 1\n',
    },
  },
  {
    rule: undefined,
    from: `${core}/runtime/lazy.ts`,
    files: {
      [`${core}/runtime/lazy.ts`]:
        "import type { S } from '../store/lowdb/s.js'\nexport const x = async (): Promise<S> => (await import('../store/lowdb/s.js')).s\n",
      [`${core}/store/lowdb/s.ts`]: 'export const s = 1\nexport type S = 1\n',
    },
  },
  {
    rule: 'core-without-sdk',
    from: `${core}/providers/sdk.ts`,
    files: { [`${core}/providers/sdk.ts`]: "import type OpenAI from 'openai'\nexport type X = OpenAI\n" },
  },
  {
    rule: 'examples-public-names',
    from: 'examples/one/src/main.ts',
    files: {
      'examples/one/src/main.ts': "import { y } from '../../../packages/core/src/internal/y.js'\nexport const x = y\n",
      [`${core}/internal/y.ts`]: 'export const y = 1\n',
    },
  },
]

/** A stand-in for an installed package, so that names resolve as they do in the workspace. */
const layPackage = (tree, from, name, entry) => {
  const target = join(tree, from, 'node_modules', name)
  mkdirSync(dirname(target), { recursive: true })
  if (entry) return symlinkSync(join(tree, entry), target, 'dir')
  mkdirSync(target, { recursive: true })
  writeFileSync(
    join(target, 'package.json'),
    JSON.stringify({ name, version: '1.0.0', type: 'module', main: 'index.js' }),
  )
  writeFileSync(join(target, 'index.js'), 'export const Low = 1\n')
}

const selfTest = async () => {
  // One tree for all rows; rows share helper files of equal content and each violation is looked up by rule and file.
  const tree = mkdtempSync(join(tmpdir(), 'sluice-layers-'))
  try {
    cpSync(join(root, '.dependency-cruiser.mjs'), join(tree, '.dependency-cruiser.mjs'))
    writeFileSync(join(tree, 'package.json'), '{ "type": "module" }')
    for (const name of ['core', 'providers', 'testkit']) {
      mkdirSync(join(tree, 'packages', name), { recursive: true })
      cpSync(join(root, 'packages', name, 'package.json'), join(tree, 'packages', name, 'package.json'))
    }
    const base = {
      [`${core}/index.ts`]: 'export const core = 1\n',
      'packages/testkit/src/index.ts': 'export const kit = 1\n',
      'packages/providers/src/openai/index.ts': 'export const o = 1\n',
    }
    const write = (files) => {
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(tree, path)), { recursive: true })
        writeFileSync(join(tree, path), text)
      }
    }
    layPackage(tree, 'packages/core', 'lowdb')
    layPackage(tree, 'packages/core', 'openai')
    layPackage(tree, 'packages/core', '@sluice/testkit', 'packages/testkit')
    layPackage(tree, 'packages/providers', '@sluice/core', 'packages/core')
    layPackage(tree, 'packages/providers', '@sluice/testkit', 'packages/testkit')
    layPackage(tree, 'packages/testkit', '@sluice/providers', 'packages/providers')
    write(base)
    for (const { files } of rows) write(files)

    const names = ['packages', 'examples', 'test']
    const { output } = await cruise(tree, names, 'json')
    let violations
    try {
      violations = JSON.parse(output).summary.violations
    } catch {
      console.error(`self-test: dependency-cruiser gave no report:\n${output}`)
      return false
    }
    const wrong = []
    for (const { rule, from } of rows) {
      const named = violations.filter((violation) => violation.from === from).map((violation) => violation.rule.name)
      if (rule && !named.includes(rule))
        wrong.push(`${from}: ${rule} did not fire (fired: ${named.join(', ') || 'none'})`)
      if (!rule && named.length > 0) wrong.push(`${from}: ${named.join(', ')} fired on an allowed import`)
    }
    const silent = config.forbidden.map(({ name }) => name).filter((name) => !rows.some(({ rule }) => rule === name))
    for (const name of silent) wrong.push(`${name}: no row of the self-test provokes it`)
    for (const line of wrong) console.error(`self-test: ${line}`)
    if (wrong.length === 0)
      console.log(`self-test: ${rows.length} rows, ${config.forbidden.length} rules, all as expected`)
    return wrong.length === 0
  } finally {
    rmSync(tree, { recursive: true, force: true })
  }
}

const sound = process.argv.includes('--self-test') ? await selfTest() : true
const { code, output } = await cruise(root, folders, 'err-long')
process.stdout.write(output)
process.exitCode = code !== 0 || !sound ? 1 : 0
