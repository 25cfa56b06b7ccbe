// The layers of the house as rules. `pnpm layers` runs them; `node scripts/check-layers.mjs --self-test` first proves,
// on a small made-up tree, that every rule fires.

/** The rooms of packages/core/src, top to bottom. A room may import rooms above it in this list, never below. */
export const rooms = [
  'internal',
  'messages',
  'errors',
  'engine',
  'store',
  'events',
  'context',
  'hooks',
  'tools',
  'providers',
  'generate',
  'prompts',
  'sessions',
  'agents',
  'runtime',
]

/** What each package may import of the others, tests included, through their package names. */
const mayImport = {
  core: [],
  providers: ['core'],
  agents: ['core'],
  testkit: ['core'],
  'hooks-budget': ['core'],
  'hooks-rate-limit': ['core'],
  'hooks-audit': ['core'],
  'hooks-policy': ['core'],
}

const packages = Object.keys(mayImport)
const core = '^packages/core/src/'
const test = '\\.test(-d)?\\.ts$'
const sdk = '(^|node_modules/)(openai|@anthropic-ai/sdk|@google/genai|ollama|oci-[a-z]+)(/|$)'

const roomRules = rooms.map((room, index) => ({
  name: `room-${room}`,
  comment: `${room} may import only ${index === 0 ? 'itself' : rooms.slice(0, index).join(', ')}`,
  severity: 'error',
  from: { path: `${core}${room}/`, pathNot: test },
  to: { path: `${core}(${[...rooms.slice(index + 1), 'index\\.ts$'].join('|')})` },
}))

const packageRules = packages.map((name) => ({
  name: `package-${name}`,
  comment: `packages/${name} may import only ${mayImport[name].join(', ') || 'no other package'}`,
  severity: 'error',
  from: {
    path: `^packages/${name}/`,
    // tests of any package but core may import the testkit
    ...(name === 'core' ? {} : { pathNot: test }),
  },
  to: {
    path: [
      ...packages
        .filter((other) => other !== name && !mayImport[name].includes(other))
        .flatMap((other) => [`^packages/${other}/`, `^@sluice/${other}(/|$)`]),
      '^(examples|test|bench)/',
    ],
  },
}))

export default {
  forbidden: [
    ...roomRules,
    ...packageRules,
    {
      name: 'package-test-imports',
      comment: 'a test of a package may import the testkit beside what its package may import; whole runs go to test/',
      severity: 'error',
      from: { path: '^packages/testkit/.+' + test },
      to: { path: ['^packages/providers/', '^@sluice/providers(/|$)'] },
    },
    {
      name: 'room-unknown',
      comment: 'a new room of core gets its place in the list of .dependency-cruiser.mjs first',
      severity: 'error',
      from: { path: `${core}(?!(${rooms.join('|')})/)[^/]+/` },
      to: {},
    },
    {
      name: 'package-by-name',
      comment:
        'another package is imported by its name, never by a path into its folder; the one program that measures the dispatcher without a run around it may',
      severity: 'error',
      from: { path: '^(packages/[^/]+|examples/[^/]+|test|bench)/', pathNot: '^bench/programs/dispatcher\\.ts$' },
      to: { path: '^(packages/[^/]+|examples/[^/]+|test|bench)/', pathNot: '^$1/', dependencyTypes: ['local'] },
    },
    {
      name: 'no-cycle-by-value',
      comment: 'no import cycle in which every import is there at run time',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-cycle-across-folders',
      comment: 'a cycle of types is tolerated inside one folder only',
      severity: 'error',
      from: { path: '^(.+)/[^/]+$' },
      to: { circular: true, via: { pathNot: '^$1/[^/]+$' } },
    },
    {
      name: 'lowdb-only-in-its-store',
      comment: 'lowdb is imported by the folder store alone',
      severity: 'error',
      from: { path: '^packages/', pathNot: `${core}store/lowdb/` },
      to: { path: '(^|node_modules/)lowdb(/|$)' },
    },
    {
      name: 'lowdb-store-on-demand',
      comment: 'the folder store is loaded only when it is used: import() it, or import its types',
      severity: 'error',
      from: { path: core, pathNot: [`${core}store/lowdb/`, test] },
      to: { path: `${core}store/lowdb/`, dynamic: false, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'core-without-sdk',
      comment: 'core knows no provider SDK',
      severity: 'error',
      from: { path: '^packages/core/' },
      to: { path: sdk },
    },
    {
      name: 'examples-public-names',
      comment: 'an example imports public names only, and nothing of the tests or benchmarks',
      severity: 'error',
      from: { path: '^examples/' },
      to: { path: '^(packages|test|bench)/', dependencyTypes: ['local'] },
    },
  ],
  options: {
    // tsPreCompilationDeps sees imports that exist only as types; a tsConfig is left out on purpose
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|\\.types|\\.cache|fixtures)/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['sluice-source', 'import', 'node', 'default'],
      extensions: ['.ts', '.mjs', '.js', '.json'],
    },
  },
}
