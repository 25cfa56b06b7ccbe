import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { livenessOf, ownIdentity } from './process-identity.js'

const own = ownIdentity()
const isLinux = process.platform === 'linux'

describe('livenessOf', () => {
  it('tells that this process is alive', () => {
    expect(own.pid).toBe(process.pid)
    expect(livenessOf(own, own)).toBe('alive')
  })

  it('tells that a process is dead', () => {
    const { pid } = spawnSync(process.execPath, ['--version'])
    expect(livenessOf({ ...own, pid }, own)).toBe('dead')
  })

  it.skipIf(!isLinux)('tells that a pid belongs to another process by now', () => {
    expect(livenessOf({ ...own, started: '1' }, own)).toBe('dead')
  })

  it('tells that the machine was started again since', () => {
    expect(livenessOf({ ...own, boot: 'before' }, { ...own, boot: 'now' })).toBe('dead')
  })

  it('does not know of processes of another machine or container', () => {
    expect(livenessOf({ ...own, boot: 'there', host: 'other' }, { ...own, boot: 'here' })).toBe('unknown')
    expect(livenessOf({ ...own, pids: 'pid:[1]' }, { ...own, pids: 'pid:[2]' })).toBe('unknown')
    expect(livenessOf({ ...own, boot: null, host: 'other' }, { ...own, boot: null })).toBe('unknown')
  })
})
