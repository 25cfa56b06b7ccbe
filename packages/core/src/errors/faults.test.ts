import { describe, expect, it } from 'vitest'
import { Faults, named } from './faults.js'

describe('Faults', () => {
  it('every unknown option is named, and the last one lists what there is', () => {
    const faults = new Faults()
    faults.addUnknown({ name: 'x', code: 'a', execute: () => 1 }, ['code', 'handler'])
    expect(faults.list).toEqual(['name: is not an option', 'execute: is not an option; options are code, handler'])
  })

  it('of many unknown options the list of options is among the lines that are shown', () => {
    const faults = new Faults()
    faults.addUnknown(Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`x${index}`, 1])), ['code'])
    expect(() => faults.throwIfAny('The tool is not acceptable')).toThrow('x19: is not an option; options are code')
  })

  it('a thing is shown with its code, escaped, and one without a code as that', () => {
    expect(named('Tool', 'ap_get\n')).toBe("Tool 'ap_get\\n'")
    expect(named('Tool', undefined)).toBe('Tool without a code')
  })
})
