const LONGEST_NAME = 64
const PLAIN_NAME = /^[A-Za-z0-9_-]{1,64}$/

/**
 * The name of a called tool in the form that every protocol takes. A model may have invented any name; stored in the
 * history it must not make the provider refuse every later request of that conversation.
 */
export function wireToolName(name: string): string {
  if (PLAIN_NAME.test(name)) return name
  const plain = name.slice(0, LONGEST_NAME).replace(/[^A-Za-z0-9_-]/g, '_')
  return plain === '' ? '_' : plain
}
