export type { GenAI, GenAIParameters } from './google-client.js'
export type { GoogleOptions } from './google-provider.js'
export { google } from './google-provider.js'
export type { GoogleThinking } from './google-thinking.js'
