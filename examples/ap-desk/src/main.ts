import { wantsColour } from './account/painter.js'
import { runExample } from './run-example.js'

process.exitCode = await runExample(process.argv.slice(2), {
  print: (line) => console.log(line),
  printError: (line) => console.error(line),
  env: process.env,
  colour: wantsColour(process.stdout.isTTY === true, process.env),
})
