/** Stands where something was taken out. */
export const REDACTED = '[redacted]'

/** Shorter secrets would take out half of every text. */
const SHORTEST_SECRET = 4

/**
 * Every spelling in which a known secret is looked for: as it is, escaped in JSON (also in JSON inside of JSON), percent-encoded,
 * and base64, base64url and hexadecimal of its bytes. Values of fewer than 4 characters are left out.
 */
export function spellingsOf(secrets: readonly string[]): readonly string[] {
  const all = new Set<string>()
  for (const secret of secrets) {
    if (typeof secret !== 'string' || secret.length < SHORTEST_SECRET) continue
    const escaped = JSON.stringify(secret).slice(1, -1)
    const bytes = Buffer.from(secret)
    for (const spelling of [
      secret,
      escaped,
      JSON.stringify(escaped).slice(1, -1),
      percentEncoded(secret),
      bytes.toString('base64').replace(/=+$/, ''),
      bytes.toString('base64url'),
      bytes.toString('hex'),
    ])
      all.add(spelling)
  }
  return [...all]
}

/** The text without these secrets; where two of them overlap, neither leaves a part behind. */
export function takeOut(text: string, spellings: readonly string[]): string {
  const spans: { from: number; to: number }[] = []
  for (const spelling of spellings) {
    for (let from = text.indexOf(spelling); from !== -1; from = text.indexOf(spelling, from + 1)) {
      spans.push({ from, to: from + spelling.length })
    }
  }
  if (spans.length === 0) return text
  spans.sort((left, right) => left.from - right.from || right.to - left.to)
  let rest = ''
  let end = 0
  let open = false
  for (const { from, to } of spans) {
    if (open && from < end) {
      end = Math.max(end, to)
      continue
    }
    rest += `${text.slice(end, from)}${REDACTED}`
    end = to
    open = true
  }
  return rest + text.slice(end)
}

/** A pattern that fits wherever it can, each time: its owner's `g` and `y` keep no place. */
export function everywhere(pattern: RegExp): RegExp {
  return new RegExp(pattern.source, `${pattern.flags.replace(/[gy]/g, '')}g`)
}

function percentEncoded(secret: string): string {
  try {
    return encodeURIComponent(secret)
  } catch {
    return secret
  }
}
