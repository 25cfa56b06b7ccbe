// Packs packages as they will be published and prints the paths of the tarballs, a JSON list. What was packed before and has
// not changed is not packed again. Builds what is not built.
//
//   node scripts/pack.mjs core providers
import { packedPackages } from './lib/packed-packages.mjs'
import { runProgram } from './lib/steps.mjs'

const built = await runProgram(process.execPath, ['scripts/build.mjs'])
if (built.code !== 0) {
  console.error(built.output)
  process.exit(1)
}
console.log(JSON.stringify(await packedPackages(process.argv.slice(2))))
