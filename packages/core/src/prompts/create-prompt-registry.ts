import { Faults } from '../errors/faults.js'
import { SluiceError } from '../errors/sluice-error.js'
import { digest } from '../internal/digest.js'
import { escapeControl } from '../internal/escape-text.js'
import type { JsonObject } from '../internal/json.js'
import type { DefinitionRecord, DefinitionStatus } from '../store/records.js'
import type { DefinitionRepository, Page, PageRequest } from '../store/store.js'
import { compileValidator } from '../tools/compile-validator.js'
import { nearNames } from './near-names.js'
import type { PreparedPrompt } from './prepare-prompt.js'
import { preparePrompt } from './prepare-prompt.js'
import type { ParsedPromptProfile, PromptProfile, PromptProfileDefinition } from './prompt-profile.js'
import { readPromptProfile, throwProfileFaults } from './prompt-profile.js'
import type {
  ChangedBy,
  PromptProfileRecord,
  PromptReference,
  PromptRegistry,
  PromptRegistryParts,
  ResolvedPrompt,
  StoredPrompt,
} from './prompt-registry.js'

const STATUSES: readonly unknown[] = ['draft', 'active', 'archived']
const MAX_PREPARED = 256
const MAX_TRIES = 10

/** Makes the registry of prompt profiles over a store. It keeps compiled profiles by the digest of their definition. */
export function createPromptRegistry(parts: PromptRegistryParts): PromptRegistry {
  return new Registry(parts)
}

class Registry implements PromptRegistry {
  readonly #parts: PromptRegistryParts
  readonly #prepared = new Map<string, Promise<PreparedPrompt>>()

  constructor(parts: PromptRegistryParts) {
    this.#parts = parts
  }

  get #prompts(): DefinitionRepository {
    return this.#parts.store.prompts
  }

  async create(
    definition: PromptProfileDefinition,
    options: ChangedBy & { readonly status?: DefinitionStatus } = {},
  ): Promise<StoredPrompt> {
    const status = options.status ?? 'draft'
    checkStatus(status)
    const parsed = await this.#parse(definition)
    const record = this.#newRecord(parsed.profile, parsed.version ?? 1, status, 'store', options.by)
    await this.#prompts.insert(record)
    return this.#stored(record, parsed.warnings)
  }

  async update(
    reference: PromptReference,
    definition: PromptProfileDefinition,
    options: ChangedBy = {},
  ): Promise<StoredPrompt> {
    const current = await this.get(reference)
    const parsed = await this.#parse(definition, current)
    const record: DefinitionRecord = {
      ...asStored(current),
      ...contentOf(parsed.profile),
      ...this.#touched(options.by),
    }
    await this.#prompts.replace(record)
    return this.#stored(record, parsed.warnings)
  }

  async createNewVersion(
    code: string,
    sourceVersion: number,
    newVersion?: number,
    options: ChangedBy = {},
  ): Promise<StoredPrompt> {
    const source = await this.get({ code, version: sourceVersion })
    if (newVersion !== undefined && !(Number.isSafeInteger(newVersion) && newVersion >= 1))
      throw new SluiceError('INVALID_CONFIG', `The version of '${shown(code)}' must be a whole number of at least 1.`, {
        reason: 'prompt.version',
      })
    const record = await this.#insertNext(source.definition, 'draft', 'store', newVersion, options.by)
    return this.#stored(record, [])
  }

  async changeStatus(reference: PromptReference, status: DefinitionStatus, options: ChangedBy = {}): Promise<void> {
    checkStatus(status)
    const current = await this.get(reference)
    await this.#prompts.replace({ ...asStored(current), status, ...this.#touched(options.by) })
    if (status !== 'active') return
    const others = (await this.#prompts.versions(current.code)).filter(
      (record) => record.status === 'active' && record.id !== current.id,
    )
    if (others.length > 0)
      this.#warn(current.code, [
        `versions ${[...others.map((record) => record.version), current.version].join(', ')} are active: the highest is used`,
      ])
  }

  async get(reference: PromptReference): Promise<PromptProfileRecord> {
    if (typeof reference === 'string') {
      const record = await this.#prompts.get(reference)
      if (record === undefined)
        throw new SluiceError('NOT_FOUND', `There is no prompt profile of the id '${shown(reference)}'.`)
      return asProfile(record)
    }
    const versions = await this.#prompts.versions(reference.code)
    const record = versions.find((candidate) => candidate.version === reference.version)
    if (record === undefined) throw await this.#notFound(reference.code, reference.version, versions)
    return asProfile(record)
  }

  async list(page?: PageRequest & { readonly status?: DefinitionStatus }): Promise<Page<PromptProfileRecord>> {
    const { items, next } = await this.#prompts.list(page)
    return { items: items.map(asProfile), next }
  }

  async delete(reference: PromptReference): Promise<void> {
    const { id } = await this.get(reference)
    await this.#prompts.delete(id)
  }

  async resolve(code: string, version?: number): Promise<ResolvedPrompt> {
    const versions = await this.#prompts.versions(code)
    const found =
      version === undefined
        ? versions.findLast((record) => record.status === 'active')
        : versions.find((record) => record.version === version)
    if (found === undefined) throw await this.#notFound(code, version, versions)
    const record = asProfile(found)
    return { record, prompt: await this.prepare(record) }
  }

  async sync(definition: PromptProfileDefinition, options: ChangedBy = {}): Promise<PromptProfileRecord> {
    const { profile, warnings } = await this.#parse(definition)
    const versions = await this.#prompts.versions(profile.code)
    const active = versions.filter((record) => record.status === 'active' && record.origin === 'code')
    const same = active.at(-1)
    if (same !== undefined && same.digest === contentOf(profile).digest) return asProfile(same)
    const record = await this.#insertNext(profile, 'active', 'code', undefined, options.by)
    if (warnings.length > 0) this.#warn(record.code, warnings)
    for (const old of active) await this.#prompts.replace({ ...old, status: 'archived', ...this.#touched(options.by) })
    return asProfile(record)
  }

  async #parse(definition: PromptProfileDefinition, current?: PromptProfileRecord): Promise<ParsedPromptProfile> {
    const faults = new Faults()
    const parsed = readPromptProfile(definition, this.#parts.strict ?? false, faults)
    if (parsed !== undefined) {
      if (current !== undefined && parsed.profile.code !== current.code)
        faults.add('code', `is '${shown(current.code)}' and cannot be changed`)
      if (current !== undefined && parsed.version !== null && parsed.version !== current.version)
        faults.add('version', `is ${current.version} and cannot be changed`)
      await checkSchema(parsed.profile.response_schema, 'response_schema', faults)
      await checkSchema(parsed.profile.parameters_schema, 'parameters_schema', faults)
    }
    throwProfileFaults(faults, definition)
    return parsed as ParsedPromptProfile
  }

  async #insertNext(
    profile: PromptProfile,
    status: DefinitionStatus,
    origin: DefinitionRecord['origin'],
    version: number | undefined,
    by: string | null | undefined,
  ): Promise<DefinitionRecord> {
    for (let attempt = 1; ; attempt++) {
      const highest = (await this.#prompts.versions(profile.code)).at(-1)?.version ?? 0
      const record = this.#newRecord(profile, version ?? highest + 1, status, origin, by)
      try {
        await this.#prompts.insert(record)
        return record
      } catch (error) {
        // somebody else took the number meanwhile
        const taken = version === undefined && SluiceError.isInstance(error, 'DUPLICATE_NAME')
        if (!taken || attempt >= MAX_TRIES) throw error
      }
    }
  }

  #newRecord(
    profile: PromptProfile,
    version: number,
    status: DefinitionStatus,
    origin: DefinitionRecord['origin'],
    by: string | null | undefined,
  ): DefinitionRecord {
    const touched = this.#touched(by)
    return {
      id: this.#parts.ids.id(),
      code: profile.code,
      version,
      status,
      ...contentOf(profile),
      origin,
      createdBy: touched.updatedBy,
      createdAt: touched.updatedAt,
      ...touched,
    }
  }

  #touched(by: string | null | undefined): Pick<DefinitionRecord, 'updatedBy' | 'updatedAt'> {
    return { updatedBy: by ?? null, updatedAt: this.#parts.clock.now() }
  }

  #stored(record: DefinitionRecord, warnings: readonly string[]): StoredPrompt {
    if (warnings.length > 0) this.#warn(record.code, warnings)
    return { id: record.id, version: record.version, warnings }
  }

  #warn(code: string, warnings: readonly string[]): void {
    this.#parts.logger?.warn({ profile: code, warnings }, 'prompt profile: something has no effect or may be a mistake')
  }

  prepare(record: PromptProfileRecord): Promise<PreparedPrompt> {
    const known = this.#prepared.get(record.digest)
    if (known !== undefined) return known
    const oldest = this.#prepared.keys().next()
    if (this.#prepared.size >= MAX_PREPARED && oldest.done !== true) this.#prepared.delete(oldest.value)
    const prepared = preparePrompt(record.definition)
    this.#prepared.set(record.digest, prepared)
    return prepared
  }

  async #notFound(
    code: string,
    version: number | undefined,
    versions: readonly DefinitionRecord[],
  ): Promise<SluiceError> {
    const what = version === undefined ? 'no active version' : `no version ${version}`
    const there = versions.map((record) => `${record.version} (${record.status})`).join(', ')
    const near =
      versions.length > 0
        ? []
        : nearNames(
            code,
            (await this.#prompts.list({ limit: 1000 })).items.map((item) => item.code),
          )
    const hint =
      there !== ''
        ? `There is: ${there}.`
        : near.length > 0
          ? `Did you mean ${near.join(', ')}?`
          : 'Give it in createRuntime({ prompts }), or store it with prompts.create and make it active with prompts.changeStatus.'
    return new SluiceError('NOT_FOUND', `There is ${what} of the prompt profile '${shown(code)}'.`, {
      details: { code, ...(version === undefined ? {} : { version }) },
      hint,
    })
  }
}

async function checkSchema(schema: JsonObject | null, place: string, faults: Faults): Promise<void> {
  if (schema === null) return
  try {
    await compileValidator(schema).ready()
  } catch (error) {
    faults.add(place, error instanceof Error ? error.message.replaceAll('\n', ' ') : 'is not valid JSON Schema')
  }
}

function checkStatus(status: unknown): void {
  if (STATUSES.includes(status)) return
  throw new SluiceError('INVALID_STATUS', `'${shown(String(status))}' is not a status: use draft, active or archived.`)
}

function contentOf(profile: PromptProfile): Pick<DefinitionRecord, 'definition' | 'digest'> {
  const definition = profile as unknown as JsonObject
  return { definition, digest: digest(definition) }
}

function asProfile(record: DefinitionRecord): PromptProfileRecord {
  return record as unknown as PromptProfileRecord
}

function asStored(record: PromptProfileRecord): DefinitionRecord {
  return record as unknown as DefinitionRecord
}

function shown(text: string): string {
  return escapeControl(text, 80)
}
