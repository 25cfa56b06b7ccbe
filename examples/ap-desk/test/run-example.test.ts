import type { Fixture } from '@sluice/testkit'
import { createReplayServer, loadFixture, replay } from '@sluice/testkit'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createPainter, wantsColour } from '../src/account/painter.js'
import { oneLine } from '../src/account/one-line.js'
import { runExample } from '../src/run-example.js'
import { PROVIDER_CHOICES } from '../src/scenes/provider-choice.js'

async function run(args: readonly string[], env: Readonly<Record<string, string | undefined>> = {}, colour = false) {
  const out: string[] = []
  const errors: string[] = []
  const code = await runExample(args, {
    print: (line) => out.push(line),
    printError: (line) => errors.push(line),
    env,
    colour,
  })
  return { code, out: out.join('\n'), errors: errors.join('\n') }
}

/** A loopback server in place of a provider, for live runs. */
async function serve(variable: string, fixture: Fixture) {
  const server = await createReplayServer(fixture)
  onTestFinished(() => server.close())
  vi.stubEnv(variable, server.baseUrl)
  return server
}

describe('npm start', () => {
  it('plays every scene and story on both providers and ends with a summary', async () => {
    const { code, out } = await run([])
    expect(code).toBe(0)
    expect(out).toContain(
      '=== The accounts-payable desk on openai (openai-responses; replayed: no key, nothing is sent)',
    )
    expect(out).toContain('=== The accounts-payable desk on anthropic (anthropic-messages; replayed')
    const summary =
      /22 scenes, each ended as expected; 50 model calls, 36 tools ran; gates: \d+ passed, 12 vetoed, 6 paused; [\d.]+ s; replayed, nothing was sent/
    expect(out).toMatch(summary)
    // oxlint-disable-next-line no-control-regex -- the point of this line
    expect(out).not.toMatch(/\u001b/)
  })

  it('Z-3: with --log the runtime tells each run that broke in one line of JSON on standard error, else nothing', async () => {
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    onTestFinished(() => written.mockRestore())
    const scene = ['--scene', 'rollback', '--provider', 'openai']
    expect((await run(scene)).code).toBe(0)
    expect(written).not.toHaveBeenCalled()
    expect((await run([...scene, '--log'])).code).toBe(0)
    expect(written.mock.calls.map(([line]) => JSON.parse(String(line)))).toMatchObject([
      { level: 'error', text: 'a run failed', agentCode: 'ap_desk', code: 'TOOL_FAILED' },
    ])
  })

  it('plays one story where it is asked for, under its own number', async () => {
    const { code, out } = await run(['--scene', 'kill-switch', '--provider', 'anthropic'])
    expect(code).toBe(0)
    expect(out).toContain('\n10. The kill switch: nothing runs until somebody takes it off\n')
    expect(out).toContain('ended      KILL_SWITCH_ON by hooks-policy/kill-switch at beforeExecution; nothing was sent')
    expect(out).toMatch(
      /\n1 scene, each ended as expected; 2 model calls, 2 tools ran; gates: \d+ passed, 2 vetoed, 0 paused;/,
    )
  })

  it.each(PROVIDER_CHOICES)('--provider $id plays on $protocol, and on nothing else', async ({ id, protocol }) => {
    const { code, out } = await run(['--provider', id, '--scene', 'tools-called'])
    expect(code).toBe(0)
    expect(out.match(/^=== .+$/gm)).toEqual([
      `=== The accounts-payable desk on ${id} (${protocol}; replayed: no key, nothing is sent)`,
    ])
    expect(out).toMatch(/^1 scene, each ended as expected; 2 model calls, 2 tools ran;/m)
  })

  it('needs no key, and takes no notice of what the environment says of servers', async () => {
    vi.stubEnv('OPENAI_API_KEY', '')
    vi.stubEnv('OPENAI_BASE_URL', 'http://127.0.0.1:9/v1')
    vi.stubEnv('ANTHROPIC_BASE_URL', 'http://127.0.0.1:9')
    expect((await run(['--scene', 'no-clerk'])).code).toBe(0)
  })

  it.each([
    [['--lve'], /Unknown option '--lve'/],
    [['--scene', 'nothing'], /There is no scene "nothing"\./],
    [
      ['--provider', 'nobody'],
      /There is no provider "nobody"; there are openai, anthropic, google, ollama, oci, oci-cohere, openai-chat\./,
    ],
  ])('%j is wrong usage: it says what there is', async (args, message) => {
    const { code, out, errors } = await run(args)
    expect(code).toBe(2)
    expect(out).toBe('')
    expect(errors).toMatch(message)
    expect(errors).toContain('Usage: npm start -- [--live]')
  })
})

describe('npm start -- --live', () => {
  it('says which key it needs', async () => {
    const { code, errors } = await run(['--live'])
    expect(code).toBe(2)
    expect(errors).toContain('--live needs a key: set OPENAI_API_KEY or ANTHROPIC_API_KEY')
  })

  it.each([
    ['google', 'GOOGLE_API_KEY or GEMINI_API_KEY'],
    ['oci', 'OCI_COMPARTMENT_ID'],
    ['oci-cohere', 'OCI_COMPARTMENT_ID'],
    ['openai-chat', 'OPENAI_API_KEY'],
  ])('says what a live run on %s needs: %s', async (id, needs) => {
    const { code, out, errors } = await run(['--live', '--provider', id])
    expect(code).toBe(2)
    expect(out).toBe('')
    expect(errors).toContain(`--live needs a key: set ${needs}, or leave --live out to replay.`)
  })

  it('asks Ollama on this machine without any key', async () => {
    const wire = replay(loadFixture('ollama-chat/several-calls'))
    onTestFinished(() => wire.restore())
    vi.stubEnv('OLLAMA_API_KEY', undefined)
    vi.stubEnv('OLLAMA_MODEL', undefined)
    const { code, out } = await run(['--live', '--provider', 'ollama', '--scene', 'tools-called'])
    wire.done()
    expect(code).toBe(0)
    expect(out).toMatch(/^1 scene, each ended as expected; 2 model calls, 2 tools ran; .*; live$/m)
  })

  it.each([
    ['openai', 'OPENAI', 'openai-responses', 'anthropic is left out: ANTHROPIC_API_KEY is not set.'],
    ['anthropic', 'ANTHROPIC', 'anthropic-messages', 'openai is left out: OPENAI_API_KEY is not set.'],
  ] as const)('asks %s where its key is set, over the network', async (id, name, protocol, leftOut) => {
    const server = await serve(`${name}_BASE_URL`, loadFixture(`${protocol}/several-calls`))
    vi.stubEnv(`${name}_API_KEY`, 'a-key')
    const { code, out } = await run(['--live', '--scene', 'tools-called'], { [`${name}_API_KEY`]: 'a-key' })
    server.done()
    expect(code).toBe(0)
    expect(out).toContain(leftOut)
    expect(out).toContain(`the accounts-payable desk on ${id}`.replace('the', 'The'))
    expect(out).toContain('answer     INV-1002 is open and vendor V-77 is not blocked.')
    expect(out).toMatch(/1 scene, each ended as expected; .*; live$/m)
  })

  it('plays a story on a real provider too: what the operator does is the same', async () => {
    const server = await serve('OPENAI_BASE_URL', loadFixture('openai-responses/several-calls'))
    vi.stubEnv('OPENAI_API_KEY', 'a-key')
    const { code, out } = await run(['--live', '--scene', 'kill-switch'], { OPENAI_API_KEY: 'a-key' })
    server.done()
    expect(code).toBe(0)
    expect(out.match(/ended {6}KILL_SWITCH_ON/g)).toHaveLength(2)
    expect(out).toMatch(/1 scene, each ended as expected; .*; live$/m)
  })

  it('a story takes it as it comes: where the model does not ask for the change, nobody is asked', async () => {
    const server = await serve('OPENAI_BASE_URL', loadFixture('openai-responses/text'))
    vi.stubEnv('OPENAI_API_KEY', 'a-key')
    const { code, out } = await run(['--live', '--scene', 'approval-answered'], { OPENAI_API_KEY: 'a-key' })
    server.done()
    expect(code).toBe(0)
    expect(out).toContain('note       the replay ends with paused, paused, completed, NOT_PAUSED')
    expect(out).toContain('1 ended otherwise than in the replay')
  })

  it('a model that the price table does not know is not asked, and the veto says what to do', async () => {
    const server = await serve('OPENAI_BASE_URL', loadFixture('openai-responses/text'))
    vi.stubEnv('OPENAI_API_KEY', 'a-key')
    vi.stubEnv('OPENAI_MODEL', 'gpt-of-our-own')
    const { out } = await run(['--live', '--scene', 'tools-called'], { OPENAI_API_KEY: 'a-key' })
    expect(server.requests).toEqual([])
    expect(out).toContain('PRICE_UNKNOWN by hooks-budget at beforeModelCall')
    expect(out).toContain('gpt-of-our-own')
  })

  it('takes it as it comes: a model that does not ask for the write ends another way, and that is no fault', async () => {
    const server = await serve('OPENAI_BASE_URL', loadFixture('openai-responses/text'))
    vi.stubEnv('OPENAI_API_KEY', 'a-key')
    const { code, out } = await run(['--live', '--scene', 'no-clerk'], { OPENAI_API_KEY: 'a-key' })
    server.done()
    expect(code).toBe(0)
    expect(out).toContain('note       the replay ends with AP_CLERK_REQUIRED')
    expect(out).toContain('1 ended otherwise than in the replay')
  })

  it('stops at the first scene where the provider cannot be used', async () => {
    const refused = { error: { type: 'invalid_request_error', code: 'invalid_api_key', message: 'Incorrect API key.' } }
    const url = 'https://api.openai.com/v1/responses'
    await serve('OPENAI_BASE_URL', {
      protocol: 'openai-responses',
      exchanges: [{ request: { url }, response: { status: 401, body: refused } }],
    })
    vi.stubEnv('OPENAI_API_KEY', 'a-key')
    const { out } = await run(['--live', '--provider', 'openai'], { OPENAI_API_KEY: 'a-key' })
    expect(out).toContain('PROVIDER_AUTH')
    expect(out).toContain('openai cannot be used like this; its other scenes are left out.')
    expect(out).not.toContain('The kill switch')
  })
})

describe('what is written', () => {
  it('colours stand only where a terminal reads them, and NO_COLOR is honoured', () => {
    expect(wantsColour(true, {})).toBe(true)
    expect(wantsColour(false, {})).toBe(false)
    expect(wantsColour(true, { NO_COLOR: '1' })).toBe(false)
    expect(wantsColour(true, { NO_COLOR: '' })).toBe(true)
    expect(wantsColour(false, { FORCE_COLOR: '1' })).toBe(true)
    expect(createPainter(false).bad('vetoed')).toBe('vetoed')
    expect(createPainter(true).bad('vetoed')).toBe('\u001b[31mvetoed\u001b[39m')
  })

  it('CASE-29: what a model says stays on one line, and moves no cursor', () => {
    expect(oneLine('a\nb\u001b[2J\u202ec', 80)).toBe('a b\\u{1b}[2J\\u{202e}c')
    expect(oneLine('abcdef', 4)).toBe('abc…')
  })
})
