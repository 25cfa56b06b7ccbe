// Imports Sluice with its OpenAI adapter and makes one run under five plugins; prints when each was done.
const began = performance.now()
const [baseUrl, kind] = process.argv.slice(2)
const { createMemoryStore, createRuntime, defineAgent, definePlugin, defineTool } = await import('@sluice/core')
const { openai } = await import('@sluice/providers/openai')
const zod = kind === 'tools' ? await import('zod') : undefined
const imported = performance.now() - began

let seen = 0
const plugins = Array.from({ length: 5 }, (_, index) =>
  definePlugin({
    name: `bench-plugin-${index}`,
    hookApi: 1,
    apply(hooks) {
      for (const hook of Object.values(hooks)) {
        hook.tap('bench', () => {
          seen += 1
        })
      }
    },
  })(),
)
const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const tools =
  zod === undefined
    ? []
    : [
        defineTool({
          code: 'get_invoice',
          description: 'Reads one invoice.',
          effect: 'read',
          input: zod.z.object({ invoice: zod.z.string().describe('Number of the invoice') }),
          handler: ({ invoice }) => ({ invoice, open: true }),
        }),
      ]
const desk = defineAgent({
  code: 'desk',
  description: 'Answers questions about invoices.',
  model: `openai/${kind === 'tools' ? '1-round' : '0-rounds'}`,
  system: 'You help with invoices.',
  user: '{question}',
  tools,
})
const runtime = await createRuntime({
  store: createMemoryStore(),
  providers: [openai({ baseUrl, apiKey: 'bench' })],
  agents: [desk],
  plugins,
  logger: quiet,
})
await runtime.execute({ agent: 'desk', input: { question: 'Can invoice 4711 be paid?' } })
const ran = performance.now() - began
process.stdout.write(JSON.stringify({ imported, ran }), () => process.exit(seen > 0 ? 0 : 1))
