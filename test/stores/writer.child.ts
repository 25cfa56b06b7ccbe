// Opens the store in a folder and makes writes: says `open`, then `begun N` before and `done N` after every one. With a
// count of 0 it holds the store until it is killed. What it cannot do it says with the code of the error. It imports as
// little as it can, because the tests start it often.
import { writeSync } from 'node:fs'
import { createLowdbStore } from '@sluice/core/store/lowdb'
import { write } from './support/workload.js'

const [folder = '', from = '0', count = '0', checkpointBytes = '20000'] = process.argv.slice(2)
const say = (line: string) => writeSync(1, `${line}\n`)

try {
  const store = await createLowdbStore({ folder, checkpointBytes: Number(checkpointBytes) })
  say('open')
  if (count === '0') setInterval(() => undefined, 60_000)
  const end = Number(from) + Number(count)
  for (let number = Number(from); number < end; ) {
    // a write and the one that builds on it stay in order; the others go two at a time
    const together = number % 8 === 2 || number % 8 === 3 || number + 1 >= end ? [number] : [number, number + 1]
    await Promise.all(
      together.map(async (next) => {
        say(`begun ${next}`)
        await write(store, next)
        say(`done ${next}`)
      }),
    )
    number += together.length
  }
  if (count !== '0') {
    await store.close()
    say('closed')
  }
} catch (error) {
  const { code } = error as { code?: string }
  say(code === undefined ? `failed ${String(error)}` : `refused ${code}`)
}
