// Imports the official SDK and makes one run of the hand-written loop; prints when each was done.
const began = performance.now()
const [baseURL, kind] = process.argv.slice(2)
const { default: OpenAI } = await import('openai')
const zod = kind === 'tools' ? await import('zod') : undefined
const imported = performance.now() - began

const client = new OpenAI({ apiKey: 'bench', baseURL })
const schema = zod?.z.object({ invoice: zod.z.string().describe('Number of the invoice') })
const tools =
  schema === undefined
    ? []
    : [
        {
          type: 'function',
          name: 'get_invoice',
          description: 'Reads one invoice.',
          parameters: zod.z.toJSONSchema(schema),
          strict: true,
        },
      ]
const input = [{ role: 'user', content: 'Can invoice 4711 be paid?' }]
const model = kind === 'tools' ? '1-round' : '0-rounds'
for (;;) {
  const response = await client.responses.create({
    model,
    instructions: 'You help with invoices.',
    input,
    ...(tools.length === 0 ? {} : { tools }),
    max_output_tokens: 8192,
    store: false,
  })
  input.push(...response.output)
  const calls = response.output.filter((item) => item.type === 'function_call')
  if (calls.length === 0) break
  for (const call of calls) {
    const { invoice } = schema.parse(JSON.parse(call.arguments))
    input.push({ type: 'function_call_output', call_id: call.call_id, output: JSON.stringify({ invoice, open: true }) })
  }
}
const ran = performance.now() - began
process.stdout.write(JSON.stringify({ imported, ran }), () => process.exit(0))
