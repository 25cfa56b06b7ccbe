import { SluiceError } from '../errors/sluice-error.js'

/**
 * The text of a placeholder's value (P-13): strings as they are, numbers in plain decimal form, booleans as `true` and
 * `false`, null as empty text, objects and lists as JSON.
 *
 * @throws INVALID_CONFIG (`reason` `prompt.value`) for numbers that are not finite and for what JSON cannot hold
 */
export function valueText(name: string, value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value
    case 'boolean':
      return value ? 'true' : 'false'
    case 'number':
      if (!Number.isFinite(value)) throw unusable(name, `is ${value}, which is not a finite number`)
      return plainDecimal(value)
    case 'bigint':
      return value.toString()
    case 'object':
      return value === null ? '' : jsonText(name, value)
    default:
      throw unusable(name, `is a ${typeof value}`)
  }
}

function jsonText(name: string, value: object): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch {
    text = undefined
  }
  if (text === undefined) throw unusable(name, 'cannot be written as JSON')
  return text
}

/** Digits without an exponent. */
function plainDecimal(value: number): string {
  const text = String(value)
  const exponentAt = text.indexOf('e')
  if (exponentAt < 0) return text
  const exponent = Number(text.slice(exponentAt + 1))
  const sign = value < 0 ? '-' : ''
  const [whole = '', fraction = ''] = text.slice(sign.length, exponentAt).split('.')
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${whole}${fraction}`
  return `${sign}${whole}${fraction.padEnd(exponent, '0')}`
}

function unusable(name: string, what: string): SluiceError {
  return new SluiceError('INVALID_CONFIG', `The value of placeholder {${name}} ${what}.`, {
    reason: 'prompt.value',
    details: { placeholder: `{${name}}` },
    hint: 'Give a text, a finite number, a boolean, null or JSON data.',
  })
}
