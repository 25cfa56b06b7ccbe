import { defineConfig } from 'vitest/config'

// Workspace packages resolve to their sources, so tests need no build. A test that starts a child process of its own
// gets the same with `node --conditions=sluice-source --import tsx file.ts`.
const resolve = { conditions: ['sluice-source', 'module', 'node', 'development|production'] }

const project = (name: string, include: string[], testTimeout: number) => ({
  resolve,
  ssr: { resolve },
  test: {
    name,
    include,
    exclude: ['**/node_modules/**', '**/dist/**', '**/.types/**'],
    environment: 'node',
    pool: 'forks' as const,
    testTimeout,
    hookTimeout: testTimeout,
    restoreMocks: true,
    unstubEnvs: true,
  },
})

export default defineConfig({
  test: {
    // An unhandled rejection or exception fails the whole run.
    dangerouslyIgnoreUnhandledErrors: false,
    passWithNoTests: false,
    projects: [
      project('unit', ['packages/*/src/**/*.test.ts'], 15_000),
      project('runs', ['test/**/*.test.ts'], 120_000),
      project('examples', ['examples/**/*.test.ts'], 60_000),
      {
        resolve,
        test: {
          name: 'types',
          include: [],
          exclude: ['**/node_modules/**', '**/dist/**', '**/.types/**'],
          typecheck: {
            enabled: true,
            only: true,
            checker: 'tsc',
            include: ['packages/*/src/**/*.test-d.ts', 'test/**/*.test-d.ts'],
            tsconfig: './tsconfig.test-d.json',
          },
        },
      },
    ],
  },
})
