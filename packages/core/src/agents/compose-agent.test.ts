import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { composeAgent } from './compose-agent.js'

const type = { type: 'pattern', validate: () => [] as readonly string[] }
const faultsOf = (work: () => unknown): string => {
  try {
    work()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('a failure was expected')
}

describe('composeAgent', () => {
  it('makes a definition of the type, with its schemas ready', async () => {
    const agent = composeAgent(type, {
      code: 'team',
      description: 'A team.',
      input: z.object({ text: z.string() }),
      requiredContext: ['clerk'],
      timeoutSeconds: 5,
      workflowDefinition: { steps: [] },
    })
    expect(agent).toMatchObject({
      kind: 'agent',
      agentType: 'pattern',
      code: 'team',
      requiredContext: ['clerk'],
      timeoutSeconds: 5,
      maxIterations: null,
      workflowDefinition: { steps: [] },
      output: null,
    })
    expect(await agent.input?.validate({ text: 7 })).toMatchObject({ ok: false })
    expect(Object.isFrozen(agent)).toBe(true)
  })

  it('A-10: tells the faults of the common part and those of the type at once', () => {
    const strict = { type: 'pattern', validate: () => ['steps: must not be empty'] }
    const message = faultsOf(() =>
      composeAgent(strict, { code: 'a b', description: '', maxIterations: 0, output: 7, step: [] } as never),
    )
    for (const part of [
      'code:',
      'description:',
      'maxIterations:',
      'output',
      'step: is not an option',
      'steps: must not',
    ])
      expect(message).toContain(part)
  })

  it('a fault of the type is shown escaped', () => {
    const strict = { type: 'pattern', validate: () => ['step \u001b[2J: wrong'] }
    expect(faultsOf(() => composeAgent(strict, { code: 'a', description: 'b' }))).not.toContain('\u001b')
  })
})
