export type {
  BuiltInProtocol,
  CallIdBehaviour,
  ProtocolBehaviour,
  ReasoningBehaviour,
  SchemaBehaviour,
  SdkPackage,
} from './protocol-behaviour.js'
export type { OpenAIServer, OpenAIServerName } from './openai-servers.js'
export { OPENAI_SERVERS } from './openai-servers.js'
export { PROTOCOL_BEHAVIOUR } from './protocol-table.js'
