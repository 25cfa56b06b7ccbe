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
  const { createdBy, tenant, audience, user, appId, appSessionId, pageId, ipAddress, module, action } = caller
  const host = caller.host ?? facts.host ?? null
  const osUser = facts.osUser ?? null
  const { clientIdentifier, metadata } = caller
  // one by one and not in a loop over names: this is made for every top-level run
  const envContext: Record<string, JsonValue> = { audience }
  if (createdBy !== null) envContext.createdBy = createdBy
  if (tenant !== null) envContext.tenant = tenant
  if (user !== null) envContext.appUser = user
  if (appId !== null) envContext.appId = appId
  if (appSessionId !== null) envContext.appSessionId = appSessionId
  if (pageId !== null) envContext.appPageId = pageId
  if (ipAddress !== null) envContext.ipAddress = ipAddress
  if (host !== null) envContext.host = host
  if (osUser !== null) envContext.osUser = osUser
  if (module !== null) envContext.module = module
  if (action !== null) envContext.action = action
  if (clientIdentifier !== null) envContext.clientIdentifier = clientIdentifier
  if (metadata !== null) envContext.metadata = metadata
  return Object.freeze({
    createdBy,
    tenant,
    audience,
    appUser: user,
    appId,
    appSessionId,
    appPageId: pageId,
    ipAddress,
    host,
    osUser,
    module,
    action,
    clientIdentifier,
    envContext: Object.freeze(envContext),
  })
}

function readOrNull(read: () => string): string | null {
  try {
    return read()
  } catch {
    return null
  }
}
