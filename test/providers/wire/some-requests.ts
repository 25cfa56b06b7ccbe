import type { Message } from '@sluice/core'
import { SluiceError } from '@sluice/core'

export const tool = {
  name: 'find',
  description: 'Finds.',
  inputSchema: {
    type: 'object',
    properties: { name: { type: 'string', description: 'Whom' }, limit: { type: 'number' } },
    required: ['name'],
  },
}
export const recordTool = {
  name: 'bag',
  description: '',
  inputSchema: {
    type: 'object',
    properties: { any: { type: 'object', additionalProperties: true } },
    required: ['any'],
  },
}
export const output = {
  name: 'answer',
  schema: { type: 'object', properties: { yes: { type: 'boolean' }, why: { type: 'string' } }, required: ['yes'] },
}

export const called = (id: string, args = '{"name":"x"}'): Message => ({
  role: 'assistant',
  content: [{ type: 'tool_call', toolCallId: id, toolName: 'find', args }],
})
export const result = (id: string, text: string, status: 'ok' | 'error' | 'refused' = 'ok') => ({
  type: 'tool_result' as const,
  toolCallId: id,
  toolName: 'find',
  result: text,
  status,
})
export const user = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })

export async function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => (SluiceError.isInstance(error) ? error.code : error),
  )
}
