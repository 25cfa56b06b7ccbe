import { defineWorkflow } from '@sluice/agents'
import type { AgentDefinition } from '@sluice/core'
import { defineAgent } from '@sluice/core'
import { z } from 'zod'

/** From this score on a haiku is good enough. */
export const GOOD_ENOUGH = 8

/** A poet, a critic and a translator on one model, and the loop that they work in. */
export function haikuAgents(model: string): {
  readonly loop: ReturnType<typeof haikuLoop>
  readonly all: AgentDefinition[]
} {
  const poet = defineAgent({
    code: 'poet',
    description: 'Writes a haiku about a topic, and writes it anew where there is advice.',
    model,
    system: 'You write haiku: three lines of 5, 7 and 5 syllables. Answer with the haiku alone.',
    user: 'Topic: {topic}\n\nYour last draft: {draft}\n\nAdvice: {advice}',
    // in the first iteration there is neither draft nor advice: the mapping leaves them out
    input: z.object({ topic: z.string(), draft: z.string().default('none'), advice: z.string().default('none') }),
  })
  const critic = defineAgent({
    code: 'critic',
    description: 'Scores a haiku from 0 to 10, and advises what to change.',
    model,
    system: 'You are a strict critic of haiku. Count syllables. Score from 0 to 10, and give one piece of advice.',
    user: '{haiku}',
    output: z.strictObject({ score: z.number(), advice: z.string() }),
  })
  const translator = defineAgent({
    code: 'translator',
    description: 'Translates a haiku into German.',
    model,
    system: 'Translate the haiku into German, and keep its form. Answer with the translation alone.',
    user: '{haiku}',
  })
  const loop = haikuLoop()
  return { loop, all: [poet, critic, translator, loop] as AgentDefinition[] }
}

function haikuLoop() {
  return defineWorkflow({
    code: 'haiku_loop',
    description: 'Writes a haiku, has it judged, and writes it anew until it is good enough; then translates it.',
    workflowType: 'loop',
    input: z.object({ topic: z.string().min(1) }),
    steps: [
      {
        agent: 'poet',
        outputKey: 'haiku',
        inputMapping: {
          topic: '{$.input.topic}',
          draft: { path: '{$.steps.haiku}', optional: true },
          advice: { path: '{$.steps.judged.advice}', optional: true },
        },
      },
      { agent: 'critic', outputKey: 'judged', inputMapping: { haiku: '{$.steps.haiku}' }, onError: 'retry' },
    ],
    // without a score there is nothing to compare, so the condition is false
    loopConfig: { maxIterations: 4, exitCondition: `{$.steps.judged.score} >= ${GOOD_ENOUGH}` },
    postSteps: [
      {
        agent: 'translator',
        outputKey: 'translated',
        inputMapping: { haiku: '{$.steps.haiku}' },
        condition: `{$.steps.judged.score} >= ${GOOD_ENOUGH}`,
      },
    ],
    finalMessage: '{$.steps.haiku}\n\n{$.steps.translated}',
  })
}
