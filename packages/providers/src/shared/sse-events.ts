import { readLines } from './read-lines.js'

/**
 * The events of a stream of server-sent events, each as the text of its `data` lines. A block of bare JSON, which some
 * servers send where an error takes the place of an event, comes as it is; comments and other fields are passed over. What
 * stands behind the last empty line comes too: whether it is whole is for the reader to judge.
 */
export async function* sseEvents(body: ReadableStream<Uint8Array> | null): AsyncGenerator<string> {
  let block: string[] = []
  for await (const line of readLines(body)) {
    if (line !== '') {
      block.push(line)
      continue
    }
    const data = dataOf(block)
    block = []
    if (data !== '') yield data
  }
  const rest = dataOf(block)
  if (rest !== '') yield rest
}

function dataOf(block: readonly string[]): string {
  const data = block.filter((line) => line.startsWith('data:')).map((line) => line.slice('data:'.length).trimStart())
  if (data.length === 0 && /^[{[]/.test(block[0] ?? '')) return block.join('\n')
  return data.join('\n')
}
