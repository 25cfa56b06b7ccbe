import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** The loopback server in its own process. */
export interface LoopbackServer {
  /** Base URL for clients: `http://127.0.0.1:<port>/v1`. */
  readonly baseUrl: string
  /** Requests that wait at the latch. */
  parked(): Promise<number>
  /** Answers all that wait at the latch. */
  release(): Promise<number>
  close(): void
}

/** Starts the server and waits until it listens. */
export async function startServer(): Promise<LoopbackServer> {
  const child = fork(fileURLToPath(new URL('./loopback-server.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (message) => resolve(message as number))
    child.once('exit', (code) => reject(new Error(`The loopback server ended with code ${String(code)}.`)))
  })
  const ask = async (path: string): Promise<number> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`)
    return Number(await answer.text())
  }
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    parked: () => ask('/parked'),
    release: () => ask('/release'),
    close: () => child.disconnect(),
  }
}
