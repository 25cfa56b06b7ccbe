import { reply } from '@sluice/testkit'

const used = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens })

/** The model's side of a run in which the second haiku is good enough, in the order in which the agents ask. */
export const SECOND_IS_GOOD = [
  reply('Rain on the old roof\nis falling down all the night\nI sleep').usage(used(92, 21)),
  reply.json({ score: 4, advice: 'The last line has two syllables; it needs five.' }).usage(used(71, 24)),
  reply('Rain on the old roof\ncounting the hours of the night\nsomeone is awake').usage(used(128, 22)),
  reply.json({ score: 9, advice: 'Leave it as it is.' }).usage(used(74, 18)),
  reply('Regen auf dem Dach\nzählt die Stunden dieser Nacht\njemand liegt noch wach').usage(used(66, 25)),
]

/** One in which no haiku is good enough: the loop ends at its limit, and nothing is translated. */
export const NONE_IS_GOOD = [1, 2, 3, 4].flatMap((draft) => [
  reply(`A haiku, draft ${draft}`).usage(used(100, 10)),
  reply.json({ score: draft, advice: 'Count your syllables.' }).usage(used(70, 15)),
])
