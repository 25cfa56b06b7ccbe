import { reply } from '@sluice/testkit'

const used = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens })
const picks = (agentCode: string, rationale: string) =>
  reply.json({
    next_speaker: { agent_code: agentCode, moderator_rationale: rationale },
    discussion_complete: false,
  })

/** The model's side of the rotation: settled in the second round, before the others speak again. */
export const ROTATION = [
  reply('Lanterns in the garden, music until two.').usage(used(60, 9)),
  reply('Soup first, then the grill; vegetables for half of the guests.').usage(used(85, 13)),
  reply('Two is late. Music inside from eleven on, please.').usage(used(110, 11)),
  reply('Lanterns, soup and grill, music inside from eleven. SETTLED').usage(used(135, 13)),
]

/** That of the panel: its moderator once names somebody who is not there, and is put right. */
export const PANEL = [
  picks('host', 'Somebody has to propose something.').usage(used(140, 22)),
  reply('A picnic by the river.').usage(used(75, 6)),
  picks('Neighbor', 'Those next door should be heard.').usage(used(165, 24)),
  picks('neighbour', 'Those next door should be heard.').usage(used(220, 24)),
  reply('Nobody parks in our street, and I am happy.').usage(used(100, 10)),
  picks('cook', 'Nothing was said of food.').usage(used(190, 21)),
  reply('Cold dishes: nothing that has to be heated.').usage(used(120, 9)),
  reply
    .json({ next_speaker: { agent_code: '', moderator_rationale: '' }, discussion_complete: true })
    .usage(used(210, 18)),
  reply('A picnic by the river with cold dishes. Guests come on foot.').usage(used(205, 14)),
]
