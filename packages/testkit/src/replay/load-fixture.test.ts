import { describe, expect, it } from 'vitest'
import { FIXTURE_PROTOCOLS, FIXTURE_SITUATIONS, loadFixture } from './load-fixture.js'
import type { FixtureName } from './load-fixture.js'

const names = FIXTURE_PROTOCOLS.flatMap((protocol) =>
  FIXTURE_SITUATIONS.map((situation) => `${protocol}/${situation}` as FixtureName),
)

describe('loadFixture', () => {
  it.each(names)('%s is shipped, says that it is hand-written, and is in the format', (name) => {
    const fixture = loadFixture(name)
    expect(`${fixture.protocol}/${fixture.situation}`).toBe(name)
    expect(fixture.origin).toBe('hand-written')
    expect(fixture.note).toMatch(
      /^Written by hand in the documented wire format of .+; no provider ever sent these bytes\./,
    )
    expect(fixture.exchanges.length).toBeGreaterThan(0)
  })

  it('a veto has one exchange: a second request has no answer', () => {
    for (const protocol of FIXTURE_PROTOCOLS) expect(loadFixture(`${protocol}/veto`).exchanges).toHaveLength(1)
  })

  it('CASE-21: a name never becomes a path', () => {
    const bad = [
      '../package',
      'openai-chat/../../package',
      'openai-chat',
      'openai-chat/text/x',
      'toString/text',
      '',
      'openai-chat/text.json',
    ]
    for (const name of bad) {
      expect(() => loadFixture(name as FixtureName)).toThrow(expect.objectContaining({ code: 'FIXTURE_NOT_FOUND' }))
    }
  })

  it('refuses what is no fixture, all faults at once', () => {
    const wrong = {
      exchanges: [
        {
          request: { url: 'no url', method: 7 },
          response: { status: 42, events: [1], lines: {}, body: {}, cutBytes: 0, breakAfter: -1 },
        },
        { request: {} },
      ],
    }
    let message = ''
    try {
      loadFixture(wrong as never)
    } catch (error) {
      message = (error as Error).message
    }
    for (const path of [
      '[0].request.url',
      '[0].request.method',
      '[0].response.status',
      '[0].response: body or events',
      '[0].response.lines',
      '[0].response.events',
      '[0].response.cutBytes',
      '[0].response.breakAfter',
      '[1]:',
    ]) {
      expect(message).toContain(`exchanges${path}`)
    }
    expect(() => loadFixture({ exchanges: [] })).toThrow(expect.objectContaining({ code: 'FIXTURE_INVALID' }))
  })

  it('reads a file of one’s own, and says what is wrong with it', () => {
    expect(loadFixture(new URL('../../fixtures/openai-chat/text.json', import.meta.url)).situation).toBe('text')
    expect(() => loadFixture(new URL('./absent.json', import.meta.url))).toThrow(
      expect.objectContaining({ code: 'FIXTURE_NOT_FOUND' }),
    )
    expect(() => loadFixture(new URL('./load-fixture.ts', import.meta.url))).toThrow(
      expect.objectContaining({ code: 'FIXTURE_INVALID' }),
    )
  })
})
