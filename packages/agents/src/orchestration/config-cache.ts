import type { AgentDefinition, JsonObject } from '@sluice/core'
import { agentsError } from '../agents-error.js'
import { ConfigReader } from './config-reader.js'
import type { Given } from './config-reader.js'

/** A configuration as a type works with it, or everything that is wrong with it. */
type Read<Config> = { readonly config: Config } | { readonly faults: readonly string[] }

/** Reads the `orchestration_config` of the agents of one type, each once, however often it runs. */
export class ConfigCache<Config> {
  readonly #type: string
  readonly #read: (given: Given, reader: ConfigReader, own: string) => Config
  readonly #known = new WeakMap<JsonObject, Read<Config>>()

  /** `read` is given the configuration and the code of the agent that has it. */
  constructor(type: string, read: (given: Given, reader: ConfigReader, own: string) => Config) {
    this.#type = type
    this.#read = read
  }

  /** Everything that is wrong with a definition. */
  faultsOf(definition: AgentDefinition): readonly string[] {
    const read = this.#of(definition)
    const faults = 'faults' in read ? [...read.faults] : []
    if (definition.workflowDefinition !== null) faults.push('workflow_definition: belongs to other types of agents')
    return faults
  }

  /** The configuration, `undefined` where something is wrong with it. */
  find(definition: AgentDefinition): Config | undefined {
    const read = this.#of(definition)
    return 'faults' in read ? undefined : read.config
  }

  /** @throws ORCHESTRATION_INVALID */
  get(definition: AgentDefinition): Config {
    const read = this.#of(definition)
    if (!('faults' in read)) return read.config
    throw agentsError(
      'ORCHESTRATION_INVALID',
      `The configuration of agent "${definition.code}" cannot be read:\n- ${read.faults.join('\n- ')}`,
      { details: { agent: definition.code, faults: read.faults.slice(0, 20) } },
    )
  }

  #of({ code, orchestrationConfig }: AgentDefinition): Read<Config> {
    if (orchestrationConfig === null) return { faults: ['orchestration_config: is missing'] }
    const known = this.#known.get(orchestrationConfig)
    if (known !== undefined) return known
    const reader = new ConfigReader()
    reader.pattern(orchestrationConfig, this.#type)
    const config = this.#read(orchestrationConfig, reader, code)
    const faults = reader.faults.list
    const read = faults.length > 0 ? { faults } : { config }
    this.#known.set(orchestrationConfig, read)
    return read
  }
}
