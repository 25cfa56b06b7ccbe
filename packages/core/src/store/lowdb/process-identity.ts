import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** Which process has a store open, so that another one can tell whether it still runs. What cannot be told is `null`. */
export interface ProcessIdentity {
  readonly pid: number
  /** When the process started, in ticks since the machine did: a pid is used again, this pair is not. */
  readonly started: string | null
  /** Which start of which machine. */
  readonly boot: string | null
  /** Which space the pid counts in: that of a container, say. */
  readonly pids: string | null
  readonly host: string
}

export function ownIdentity(): ProcessIdentity {
  return {
    pid: process.pid,
    started: startOf('self'),
    boot: textOf('/proc/sys/kernel/random/boot_id'),
    pids: linkOf('/proc/self/ns/pid'),
    host: hostname(),
  }
}

/** `unknown` where the process counts in another machine or container. */
export type Liveness = 'alive' | 'dead' | 'unknown'

export function livenessOf(other: ProcessIdentity, own: ProcessIdentity): Liveness {
  if (other.boot !== null && own.boot !== null && other.boot !== own.boot) {
    return other.host === own.host ? 'dead' : 'unknown'
  }
  if (other.pids !== own.pids || (other.boot === null && other.host !== own.host)) return 'unknown'
  if (!exists(other.pid)) return 'dead'
  if (other.started === null || own.started === null) return 'alive'
  return startOf(other.pid) === other.started ? 'alive' : 'dead'
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: unknown }).code === 'EPERM'
  }
}

/** Start of a process; `null` where it is gone, is only waiting to be collected, or the machine does not tell. */
function startOf(pid: number | 'self'): string | null {
  const stat = textOf(`/proc/${pid}/stat`)
  // the second field is the name of the program, in brackets, and may hold anything
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (fields === undefined || fields[0] === 'Z' || fields[0] === 'X') return null
  return fields[19] ?? null
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return null
  }
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}
