/** Text on one line of at most `max` characters: what moves a cursor or hides text is shown escaped, a cut is marked. */
export function oneLine(text: string, max: number): string {
  const escaped = text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) =>
    character === '\n' ? ' ' : `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
  const characters = [...escaped]
  return characters.length <= max ? escaped : `${characters.slice(0, Math.max(0, max - 1)).join('')}…`
}
