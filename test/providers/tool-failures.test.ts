// The adapters on the shipped fixtures: veto, fail-closed, handler failure and the bound of tool calls end as the row
// of each provider says (G-33, G-37, CASE-15), with no key and no network.
import { anthropic } from '@sluice/providers/anthropic'
import { google } from '@sluice/providers/google'
import { openai } from '@sluice/providers/openai'
import { describeToolFailures } from '@sluice/testkit/contracts'

describeToolFailures('openai-responses', ({ apiKey }) => openai({ apiKey }))
describeToolFailures('openai-chat', ({ apiKey }) => openai({ apiKey, protocol: 'openai-chat' }))
describeToolFailures('anthropic-messages', ({ apiKey }) => anthropic({ apiKey }))
describeToolFailures('google-generate-content', ({ apiKey }) => google({ apiKey }))
