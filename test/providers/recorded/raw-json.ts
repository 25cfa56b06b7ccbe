/** A JSON object of a recording. The readings of this folder share no code with the adapters. */
export type Raw = Record<string, any>

/** The events of a recorded stream: each `data:` line that holds JSON. */
export function rawEvents(text: string): Raw[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length).trim())
    .filter((data) => data !== '' && data !== '[DONE]')
    .map((data) => JSON.parse(data) as Raw)
}
