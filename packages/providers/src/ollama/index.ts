export type { OllamaOptions } from './ollama-provider.js'
export { ollama } from './ollama-provider.js'
