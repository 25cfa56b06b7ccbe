import { runExample } from './run-example.js'

process.exitCode = await runExample(process.argv.slice(2), (line) => console.log(line))
