import { createSecretKey, randomBytes } from 'node:crypto'
import type { Documents, JsonObject, JsonValue, PluginHost } from '@sluice/core'
import type { PersonalReference } from './audit-entry.js'
import { canonicalText } from './canonical-text.js'
import { hmac } from './seal-entry.js'

/** A personal value as it lies beside the chain. */
export interface PersonalValue {
  readonly value: JsonValue
  /** 32 random bytes, base64. */
  readonly salt: string
  /** Where it stood in the entry. */
  readonly path: string
  /** Who started the run in which it was recorded. */
  readonly subject: string | null
  readonly tenant: string | null
  readonly at: number
}

const SALT_BYTES = 32
const PAGE = 500

/** Keeps the personal values of one log until they are erased. */
export class PersonalValues {
  readonly #documents: Documents
  readonly #host: Pick<PluginHost, 'ids'>

  constructor(host: Pick<PluginHost, 'ids' | 'storage'>) {
    this.#host = host
    this.#documents = host.storage.documents
  }

  /** A value with a salt of its own, and what stands for it in the entry. Nothing is stored yet. */
  seal(
    value: JsonValue,
    facts: Omit<PersonalValue, 'value' | 'salt'>,
  ): { id: string; kept: PersonalValue; reference: JsonObject } {
    const salt = randomBytes(SALT_BYTES)
    const id = this.#host.ids.id()
    const kept = { value, salt: salt.toString('base64'), ...facts }
    return { id, kept, reference: { personal: id, hmac: hmac(createSecretKey(salt), canonicalText(value)) } }
  }

  /** Stores values, all or none. */
  async keep(log: string, values: readonly { readonly id: string; readonly kept: PersonalValue }[]): Promise<void> {
    const keys = values.map(({ id }) => keyOf(log, id))
    await this.#documents.transact(keys, () => ({
      next: values.map(({ kept }) => ({ ...kept })),
      result: undefined,
    }))
  }

  /** The value behind a reference; `undefined` where it was erased, or is not the one that the entry speaks of. */
  async read(log: string, reference: PersonalReference): Promise<JsonValue | undefined> {
    const kept = readKept(await this.#documents.get(keyOf(log, reference.personal)))
    if (kept === undefined) return undefined
    const salt = createSecretKey(Buffer.from(kept.salt, 'base64'))
    return hmac(salt, canonicalText(kept.value)) === reference.hmac ? kept.value : undefined
  }

  /** Ids of the values that fit. */
  async find(log: string, fits: (value: PersonalValue, id: string) => boolean): Promise<string[]> {
    const found: string[] = []
    let after: string | undefined
    do {
      const page = await this.#documents.list(['personal', log], {
        limit: PAGE,
        ...(after === undefined ? {} : { after }),
      })
      for (const { key, value } of page.items) {
        const kept = readKept(value)
        const id = key.at(-1) as string
        if (kept !== undefined && fits(kept, id)) found.push(id)
      }
      after = page.next ?? undefined
    } while (after !== undefined)
    return found
  }

  /** Removes values and their salts. */
  async remove(log: string, ids: readonly string[]): Promise<void> {
    for (const id of ids) await this.#documents.delete(keyOf(log, id))
  }
}

function keyOf(log: string, id: string): readonly string[] {
  return ['personal', log, id]
}

function readKept(value: JsonValue | undefined): PersonalValue | undefined {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined
  const { salt } = value as JsonObject
  return typeof salt === 'string' ? (value as unknown as PersonalValue) : undefined
}
