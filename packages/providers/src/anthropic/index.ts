export type { SdkClient } from '../shared/sdk-client.js'
export type { AnthropicOptions } from './anthropic-provider.js'
export { anthropic } from './anthropic-provider.js'
export type { AnthropicThinking } from './anthropic-thinking.js'
