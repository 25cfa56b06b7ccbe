import type { AdapterUnderTest } from './adapters.js'
import type { AcceptedDifference } from './difference.js'
import { ANTHROPIC_DIFFERENCES } from './differences-anthropic.js'
import { CHAT_DIFFERENCES } from './differences-chat.js'
import { GOOGLE_DIFFERENCES } from './differences-google.js'
import { OCI_DIFFERENCES } from './differences-oci.js'
import { OLLAMA_DIFFERENCES, OLLAMA_V1_DIFFERENCES } from './differences-ollama.js'
import { OPENROUTER_DIFFERENCES } from './differences-openrouter.js'
import { RESPONSES_DIFFERENCES } from './differences-responses.js'
import { XAI_CHAT_DIFFERENCES, XAI_RESPONSES_DIFFERENCES } from './differences-xai.js'

/** Every accepted difference between recorded requests and ours, with its reason. */
export const DIFFERENCES: Record<AdapterUnderTest['name'], readonly AcceptedDifference[]> = {
  'openai-responses': RESPONSES_DIFFERENCES,
  'openai-chat': CHAT_DIFFERENCES,
  anthropic: ANTHROPIC_DIFFERENCES,
  google: GOOGLE_DIFFERENCES,
  ollama: OLLAMA_DIFFERENCES,
  'ollama-v1': OLLAMA_V1_DIFFERENCES,
  oci: OCI_DIFFERENCES,
  'xai-responses': XAI_RESPONSES_DIFFERENCES,
  'xai-chat': XAI_CHAT_DIFFERENCES,
  openrouter: OPENROUTER_DIFFERENCES,
}
