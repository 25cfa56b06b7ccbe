import { describe, expect, it } from 'vitest'
import { HookFailedError, Veto } from '../errors/answers.js'
import { SluiceError } from '../errors/sluice-error.js'
import {
  describeThrown,
  errorReferenceText,
  nextErrorReference,
  rawErrorText,
  wantsErrorReference,
  withErrorReference,
} from './error-reference.js'
import type { ToolContext } from './tool-definition.js'

const controller = new AbortController()
const tool = { toolCode: 'pay', signal: controller.signal } as ToolContext

async function thrownBy(run: () => unknown): Promise<unknown> {
  try {
    await run()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

describe('error references', () => {
  it('B-21: a reference is ERR- and 17 digits of UTC time', () => {
    expect(nextErrorReference(Date.UTC(2026, 2, 4, 5, 6, 7, 89))).toBe('ERR-20260304050607089')
  })

  it('B-20, B-21: the model reads a neutral sentence with the reference and nothing else', () => {
    expect(errorReferenceText('ERR-20260304050607089')).toBe(
      'The tool could not complete this request. Its error is on record under ERR-20260304050607089.',
    )
  })

  it('G-37: the raw text is that of the original', () => {
    expect(rawErrorText(new Error('ORA-00942'))).toBe('Error executing tool: ORA-00942')
    expect(rawErrorText('just a text')).toBe('Error executing tool: just a text')
  })

  it('CASE-15: reads whatever was thrown, and never throws itself', () => {
    class AppError extends TypeError {
      override name = 'AppError'
    }
    expect(describeThrown(new AppError('x'))).toMatchObject({
      name: 'AppError',
      message: 'x',
      stack: expect.any(String),
    })
    expect(describeThrown('text')).toEqual({ name: 'string', message: 'text', stack: null })
    expect(describeThrown(undefined)).toEqual({ name: 'undefined', message: 'undefined', stack: null })
    expect(describeThrown({ code: 7 })).toEqual({ name: 'unknown', message: '{"code":7}', stack: null })
    expect(describeThrown(Object.create(null)).name).toBe('unknown')
    const hostile = new Proxy(new Error('x'), {
      get() {
        throw new Error('trap')
      },
    })
    expect(describeThrown(hostile).message).toBe('A value that cannot be read was thrown.')
    expect(describeThrown(new Error('x'.repeat(1_000_000))).message.length).toBe(4000)
  })
})

describe('withErrorReference', () => {
  it('B-22: marks what the handler throws or rejects with, and keeps the true error as the cause', async () => {
    const cause = new Error('table AP_SECRETS')
    for (const handler of [
      () => {
        throw cause
      },
      () => Promise.reject(cause),
    ]) {
      const error = await thrownBy(() => withErrorReference(handler)({}, tool))
      expect(wantsErrorReference(error)).toBe(true)
      expect(error).toMatchObject({ code: 'TOOL_FAILED', cause })
      expect((error as Error).message).not.toContain('AP_SECRETS')
    }
    expect(wantsErrorReference(new SluiceError('TOOL_FAILED', 'x'))).toBe(false)
  })

  it('a result passes through as it is, at once where the handler is synchronous', async () => {
    expect(withErrorReference(() => 'done')({}, tool)).toBe('done')
    await expect(withErrorReference(async () => 'done')({}, tool)).resolves.toBe('done')
  })

  it.each([
    ['a Veto', new Veto('NO', 'no')],
    ['a failed gate below', new HookFailedError({ plugin: 'p', point: 'x' }, 'threw', 'm', 1)],
    ['an abort', new SluiceError('RUN_ABORTED', 'x')],
    ['a limit of the tree', new SluiceError('TREE_LIMIT', 'x')],
  ])('G-44: %s passes through unchanged', async (_what, stop) => {
    expect(
      await thrownBy(() =>
        withErrorReference(() => {
          throw stop
        })({}, tool),
      ),
    ).toBe(stop)
  })

  it('what is thrown after the signal fired is the abort, not a failure of the tool', async () => {
    const aborted = { toolCode: 'pay', signal: AbortSignal.abort() } as ToolContext
    const error = new Error('fetch failed')
    expect(await thrownBy(() => withErrorReference(() => Promise.reject(error))({}, aborted))).toBe(error)
  })
})
