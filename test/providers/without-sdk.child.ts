// Runs with the SDKs hidden and prints what their adapters throw at the first use.
import { register } from 'node:module'
import { anthropic } from '@sluice/providers/anthropic'
import { google } from '@sluice/providers/google'
import { oci } from '@sluice/providers/oci'
import { ollama } from '@sluice/providers/ollama'
import { openai } from '@sluice/providers/openai'

const hook = `export async function resolve(specifier, context, next) {
  if (['openai', '@anthropic-ai/sdk', '@google/genai', 'ollama', 'oci-common', 'oci-generativeaiinference'].includes(specifier)) {
    throw Object.assign(new Error("Cannot find package '" + specifier + "' imported from " + context.parentURL), { code: 'ERR_MODULE_NOT_FOUND' })
  }
  return next(specifier, context)
}`
register(`data:text/javascript,${encodeURIComponent(hook)}`)

const request = { model: 'm', messages: [], tools: [], hostedTools: [], maxOutputTokens: 1 }
const apiKey = 'sk-0123456789'
const others = [ollama(), oci({ compartmentId: 'c', region: 'us-chicago-1' })]
for (const provider of [openai({ apiKey }), anthropic({ apiKey }), google({ apiKey }), ...others]) {
  await provider.generate(request, new AbortController().signal).catch((error: unknown) => {
    const { code, message } = error as { code: string; message: string }
    console.log(JSON.stringify({ code, message }))
  })
}
