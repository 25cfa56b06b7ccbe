// The adapters on the shipped fixtures: veto, fail-closed, handler failure and the bound of tool calls end as the row
// of each provider says (G-33, G-37, CASE-15), with no key and no network.
import { anthropic } from '@sluice/providers/anthropic'
import { google } from '@sluice/providers/google'
import { oci } from '@sluice/providers/oci'
import { ollama } from '@sluice/providers/ollama'
import { openai } from '@sluice/providers/openai'
import { describeToolFailures } from '@sluice/testkit/contracts'
import { SIGNING_KEY } from './recorded/signing-key.js'

describeToolFailures('openai-responses', ({ apiKey }) => openai({ apiKey }))
describeToolFailures('openai-chat', ({ apiKey }) => openai({ apiKey, protocol: 'openai-chat' }))
describeToolFailures('anthropic-messages', ({ apiKey }) => anthropic({ apiKey }))
describeToolFailures('google-generate-content', ({ apiKey }) => google({ apiKey }))
describeToolFailures('ollama-chat', () => ollama({ baseUrl: 'http://127.0.0.1:11434' }))

const signed = { auth: SIGNING_KEY, compartmentId: 'ocid1.compartment.oc1..example', region: 'us-chicago-1' }
describeToolFailures('oci-generic', () => oci({ ...signed, protocol: 'oci-generic' }))
describeToolFailures('oci-cohere', () => oci({ ...signed, protocol: 'oci-cohere' }))
