import { existsSync, readFileSync } from 'node:fs'
import { testkitError } from '../testkit-error.js'
import type { Fixture } from './fixture.js'
import { parseFixture } from './fixture.js'

/** Protocols for which fixtures are shipped. */
export const FIXTURE_PROTOCOLS = Object.freeze([
  'openai-responses',
  'openai-chat',
  'anthropic-messages',
  'google-generate-content',
  'ollama-chat',
  'oci-generic',
  'oci-cohere',
] as const)

/** Situations that are shipped for each protocol. */
export const FIXTURE_SITUATIONS = Object.freeze([
  'text',
  'tool-round',
  'several-calls',
  'handler-failure',
  'limit',
  'veto',
  'stream',
] as const)

export type FixtureProtocol = (typeof FIXTURE_PROTOCOLS)[number]
export type FixtureSituation = (typeof FIXTURE_SITUATIONS)[number]
/** Name of a shipped fixture: `openai-responses/tool-round`. */
export type FixtureName = `${FixtureProtocol}/${FixtureSituation}`

/** A shipped fixture by name, a fixture of one's own as an object, or the URL of its file. */
export type FixtureSource = FixtureName | Fixture | URL

/**
 * Reads a fixture: `loadFixture('anthropic-messages/text')`, `loadFixture(new URL('./mine.json', import.meta.url))`.
 *
 * @throws FIXTURE_NOT_FOUND, FIXTURE_INVALID
 */
export function loadFixture(source: FixtureSource): Fixture {
  if (source instanceof URL) return readFixture(source, source.href)
  if (typeof source !== 'string') return parseFixture(source, 'The object')
  // names are looked up in the closed lists above, so that none becomes a path
  const [protocol, situation] = source.split('/')
  const known =
    FIXTURE_PROTOCOLS.find((each) => each === protocol) !== undefined &&
    FIXTURE_SITUATIONS.find((each) => each === situation) !== undefined &&
    source === `${protocol}/${situation}`
  if (!known) {
    throw testkitError(
      'FIXTURE_NOT_FOUND',
      `No fixture "${String(source).slice(0, 100)}" is shipped; there are ${FIXTURE_PROTOCOLS.join(', ')} with ${FIXTURE_SITUATIONS.join(', ')}.`,
    )
  }
  return readFixture(new URL(`${source}.json`, fixturesFolder()), source)
}

function readFixture(url: URL, name: string): Fixture {
  let text: string
  try {
    text = readFileSync(url, 'utf8')
  } catch (cause) {
    throw testkitError('FIXTURE_NOT_FOUND', `The fixture ${name} cannot be read.`, { fixture: name }, cause)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw testkitError('FIXTURE_INVALID', `The fixture ${name} is not JSON.`, { fixture: name }, cause)
  }
  return parseFixture(value, `The fixture ${name}`)
}

/** `fixtures/` of this package, seen from a bundle in `dist/` and from a source in `src/<folder>/`. */
function fixturesFolder(): URL {
  const fromBundle = new URL('../fixtures/', import.meta.url)
  return existsSync(fromBundle) ? fromBundle : new URL('../../fixtures/', import.meta.url)
}
