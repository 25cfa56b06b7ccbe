import type { AgentWork, Message } from '@sluice/core'

/** Whose messages a hop made. */
export interface HopSpeakers {
  readonly member: string
  /** Who asked: `null` for the caller; the member itself where its prompt was made from a summary (S-43). */
  readonly asker: string | null
  /** The text of a further turn: what stands before it is on record. `null` where the hop began a run. */
  readonly followUp: string | null
}

/** Puts what a hop said into the conversation of the handoff, each message under its speaker (F-16). */
export async function sayHop(
  work: Pick<AgentWork, 'say'>,
  messages: readonly Message[],
  { member, asker, followUp }: HopSpeakers,
): Promise<void> {
  const added = followUp === null ? messages : since(messages, followUp)
  const asked = added.findIndex(({ role }) => role === 'user') + 1
  if (asker !== member) {
    if (asked > 0) await work.say(added.slice(0, asked), asker)
    if (asked < added.length) await work.say(added.slice(asked), member)
  } else if (added.length > 0) await work.say(added, member)
}

function since(messages: readonly Message[], text: string): readonly Message[] {
  const from = messages.findLastIndex(
    ({ role, content }) =>
      role === 'user' && (content as readonly unknown[]).some((part) => (part as { text?: string }).text === text),
  )
  return messages.slice(Math.max(0, from))
}
