// Runs every example that has a `start` script, as a user would, without any provider key. Needs the build.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSteps, root } from './lib/steps.mjs'

const steps = createSteps()
for (const name of readdirSync(join(root, 'examples')).sort()) {
  const cwd = join(root, 'examples', name)
  const manifest = join(cwd, 'package.json')
  if (!existsSync(manifest) || !JSON.parse(readFileSync(manifest, 'utf8')).scripts?.start) continue
  await steps.run(`example ${name}`, 'pnpm', ['run', 'start'], {
    cwd,
    env: { OPENAI_API_KEY: '', ANTHROPIC_API_KEY: '', NO_COLOR: '1' },
  })
}
if (steps.results.length === 0) {
  console.error('run-examples: no example has a start script')
  process.exitCode = 1
} else if (steps.results.some((result) => result.code !== 0)) process.exitCode = 1
