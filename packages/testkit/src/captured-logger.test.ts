import { describe, expect, it } from 'vitest'
import { capturedLogger } from './captured-logger.js'

describe('capturedLogger', () => {
  it('T-12: keeps level, fields as they were, and text, in order', () => {
    const logger = capturedLogger()
    const fields: Record<string, unknown> = { plugin: 'desk-rules' }
    logger.warn(fields, 'observer failed')
    fields.plugin = 'changed later'
    logger.info({}, 'run ended')
    expect(logger.lines.map((line) => [line.level, line.fields, line.text])).toEqual([
      ['warn', { plugin: 'desk-rules' }, 'observer failed'],
      ['info', {}, 'run ended'],
    ])
    expect(logger.at('warn')).toHaveLength(1)
    expect(logger.matching('ended')).toHaveLength(1)
    logger.clear()
    expect(logger.lines).toEqual([])
  })

  it('passes lines on to another logger', () => {
    const outer = capturedLogger()
    capturedLogger(outer).error({ code: 'X' }, 'broken')
    expect(outer.at('error').map((line) => line.text)).toEqual(['broken'])
  })
})
