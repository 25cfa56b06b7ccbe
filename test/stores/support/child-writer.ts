import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Known } from './workload.js'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const CHILD = fileURLToPath(new URL('../writer.child.ts', import.meta.url))

/** A process of its own that has a store open, or tried. */
export interface ChildWriter {
  readonly pid: number
  /** Resolves with the line when the child says one that begins so; with `undefined` when it ends without. */
  says(beginning: string): Promise<string | undefined>
  /** Resolves when so many writes are acknowledged, or the child has ended. */
  acknowledges(count: number): Promise<void>
  /** Ends the child as a crash would. */
  kill(): Promise<void>
  readonly known: Known
  /** True where it got to its own end. */
  readonly finished: boolean
}

/** Starts a child on a folder. Without `count` it opens the store and holds it. */
export function startWriter(folder: string, from = 0, count = 0): ChildWriter {
  const child: ChildProcess = spawn(
    process.execPath,
    ['--conditions=sluice-source', '--import', 'tsx', CHILD, folder, String(from), String(count)],
    { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const begun = new Set<number>()
  const acknowledged = new Set<number>()
  const lines: string[] = []
  const listeners = new Set<() => void>()
  let ended = false
  const tell = () => {
    for (const listener of listeners) listener()
  }
  const reader = createInterface({ input: child.stdout as NodeJS.ReadableStream })
  reader.on('line', (line) => {
    const [word, number] = line.split(' ')
    if (word === 'begun') begun.add(Number(number))
    else if (word === 'done') acknowledged.add(Number(number))
    else lines.push(line)
    tell()
  })
  const exited = Promise.all([once(child, 'exit'), once(reader, 'close')]).then(() => {
    ended = true
    tell()
  })
  const until = (isTrue: () => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!isTrue() && !ended) return
        listeners.delete(look)
        resolve()
      }
      listeners.add(look)
      look()
    })
  return {
    pid: child.pid as number,
    async says(beginning) {
      const find = () => lines.find((line) => line.startsWith(beginning))
      await until(() => find() !== undefined)
      return find()
    },
    acknowledges: (wanted) => until(() => acknowledged.size >= wanted),
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    known: { begun, acknowledged },
    get finished() {
      return lines.includes('closed')
    },
  }
}
