export type { SdkClient } from '../shared/sdk-client.js'
export type { OpenAIDialect } from './openai-dialect.js'
export type { OpenAIOptions } from './openai-provider.js'
export { openai } from './openai-provider.js'
