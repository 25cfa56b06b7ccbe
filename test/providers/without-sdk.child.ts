// Runs with both SDKs hidden and prints what their adapters throw at the first use.
import { register } from 'node:module'
import { anthropic } from '@sluice/providers/anthropic'
import { openai } from '@sluice/providers/openai'

const hook = `export async function resolve(specifier, context, next) {
  if (specifier === 'openai' || specifier === '@anthropic-ai/sdk') {
    throw Object.assign(new Error("Cannot find package '" + specifier + "' imported from " + context.parentURL), { code: 'ERR_MODULE_NOT_FOUND' })
  }
  return next(specifier, context)
}`
register(`data:text/javascript,${encodeURIComponent(hook)}`)

const request = { model: 'm', messages: [], tools: [], hostedTools: [], maxOutputTokens: 1 }
for (const provider of [openai({ apiKey: 'sk-0123456789' }), anthropic({ apiKey: 'sk-0123456789' })]) {
  await provider.generate(request, new AbortController().signal).catch((error: unknown) => {
    const { code, message } = error as { code: string; message: string }
    console.log(JSON.stringify({ code, message }))
  })
}
