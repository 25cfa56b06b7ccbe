/**
 * The lines of a body as they arrive, without their line ends; the last one also where nothing ends it. Leaving early
 * cancels the body. A line is put together once, in whatever pieces it came.
 */
export async function* readLines(body: ReadableStream<Uint8Array> | null): AsyncGenerator<string> {
  if (body === null) return
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let pieces: string[] = []
  try {
    for (;;) {
      const { done, value } = await reader.read()
      const text = done ? decoder.decode() : decoder.decode(value, { stream: true })
      let from = 0
      for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
        pieces.push(text.slice(from, end))
        from = end + 1
        const line = pieces.join('')
        pieces = []
        yield withoutReturn(line)
      }
      if (from < text.length) pieces.push(text.slice(from))
      if (!done) continue
      if (pieces.length > 0) yield withoutReturn(pieces.join(''))
      return
    }
  } finally {
    // not awaited: what closes the connection may wait for what never comes
    reader.cancel().catch(() => {})
  }
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}
