import { hostname, userInfo } from 'node:os'
import type { EnvironmentFields } from '../store/records.js'
import type { ResolvedCaller } from './caller.js'
import type { JsonValue } from '../internal/json.js'

/** What the process knows about where it runs. `null`, or a key left out, means that it is not known. */
export interface EnvironmentFacts {
  readonly osUser?: string | null
  readonly host?: string | null
}

/** Reads the environment; injected through the runtime, called once per top-level run (S-17). */
export type EnvironmentReader = () => EnvironmentFacts

/** The environment of the machine: its name and the user of the process, read once; `null` where the system has no answer. */
export function createSystemEnvironment(): EnvironmentReader {
  let facts: EnvironmentFacts | undefined
  return () => (facts ??= Object.freeze({ osUser: readOrNull(() => userInfo().username), host: readOrNull(hostname) }))
}

/**
 * The environment fields of a run, captured once when its top-level run starts and shared by the whole tree (S-14 to S-17).
 * What the caller says of itself comes first: its `host` is that of the client, else the machine's own. Values that nobody
 * gave are `null`; `envContext` holds those that were given, and the caller's metadata.
 */
export function environmentFields(caller: ResolvedCaller, environment: EnvironmentReader): EnvironmentFields {
  const facts = environment()
  const named = {
    createdBy: caller.createdBy,
    tenant: caller.tenant,
    audience: caller.audience,
    appUser: caller.user,
    appId: caller.appId,
    appSessionId: caller.appSessionId,
    appPageId: caller.pageId,
    ipAddress: caller.ipAddress,
    host: caller.host ?? facts.host ?? null,
    osUser: facts.osUser ?? null,
    module: caller.module,
    action: caller.action,
    clientIdentifier: caller.clientIdentifier,
  }
  const envContext: Record<string, JsonValue> = {}
  for (const key of Object.keys(named) as (keyof typeof named)[]) {
    const value = named[key]
    if (value !== null) envContext[key] = value
  }
  if (caller.metadata !== null) envContext.metadata = caller.metadata
  return Object.freeze({ ...named, envContext: Object.freeze(envContext) })
}

function readOrNull(read: () => string): string | null {
  try {
    return read()
  } catch {
    return null
  }
}
