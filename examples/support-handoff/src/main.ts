import { runExample } from './run-example.js'

process.exitCode = await runExample((line) => console.log(line))
