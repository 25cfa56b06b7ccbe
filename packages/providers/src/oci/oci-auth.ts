import { SluiceError } from '@sluice/core'

type Common = typeof import('oci-common')

/** Any provider of credentials of the SDK (`oci-common`): instance and resource principals, sessions, one of your own. */
export interface OciCredentials {
  getKeyId(): Promise<string>
  getPrivateKey(): string
  getPassphrase(): string | null
}

/** A profile of a configuration file. */
export interface OciProfile {
  /** @default the environment's OCI_CONFIG_PROFILE, else 'DEFAULT' */
  readonly profile?: string
  /** @default the environment's OCI_CONFIG_FILE, else `~/.oci/config` */
  readonly configFile?: string
  /** True where the profile holds a session token (`oci session authenticate`). @default false */
  readonly session?: boolean
}

/** An API key, given here. */
export interface OciKey {
  readonly tenancy: string
  readonly user: string
  readonly fingerprint: string
  /** PEM text. Kept out of errors. */
  readonly privateKey: string
  readonly passphrase?: string
}

/** Where the credentials come from. A function is called once, at the first request. */
export type OciAuth = OciProfile | OciKey | OciCredentials | (() => OciCredentials | Promise<OciCredentials>)

const KEY_MEMBERS = ['tenancy', 'user', 'fingerprint', 'privateKey', 'passphrase']
const PROFILE_MEMBERS = ['profile', 'configFile', 'session']

/** What is wrong with `auth`; `undefined` where it is acceptable. Values are not shown: they may be keys. */
export function authProblem(auth: unknown): string | undefined {
  if (typeof auth === 'function' || isCredentials(auth)) return undefined
  if (typeof auth !== 'object' || auth === null || Array.isArray(auth)) return 'must be an object, or a function'
  const unknown = Object.keys(auth).filter((name) => ![...KEY_MEMBERS, ...PROFILE_MEMBERS].includes(name))
  if (unknown.length > 0) return `has unknown members: ${unknown.join(', ')}`
  const given = auth as Record<string, unknown>
  for (const name of [...KEY_MEMBERS, 'profile', 'configFile']) {
    if (given[name] !== undefined && (typeof given[name] !== 'string' || given[name] === '')) {
      return `has a member \`${name}\` that is no text`
    }
  }
  if (!KEY_MEMBERS.some((name) => given[name] !== undefined)) return undefined
  const missing = KEY_MEMBERS.filter((name) => name !== 'passphrase' && given[name] === undefined)
  if (missing.length > 0) return `lacks ${missing.map((name) => `\`${name}\``).join(', ')}`
  return PROFILE_MEMBERS.some((name) => given[name] !== undefined) ? 'names a key and a profile' : undefined
}

/** The credentials, made at the first request. @throws INVALID_CONFIG where they cannot be read */
export async function makeCredentials(common: Common, providerId: string, auth: OciAuth = {}): Promise<OciCredentials> {
  try {
    if (typeof auth === 'function') return await auth()
    if (isCredentials(auth)) return auth
    if ('privateKey' in auth) {
      const { tenancy, user, fingerprint, privateKey, passphrase } = auth
      return new common.SimpleAuthenticationDetailsProvider(tenancy, user, fingerprint, privateKey, passphrase ?? null)
    }
    const { configFile, profile = process.env.OCI_CONFIG_PROFILE, session } = auth
    const Provider =
      session === true ? common.SessionAuthDetailProvider : common.ConfigFileAuthenticationDetailsProvider
    return new Provider(configFile, profile)
  } catch (cause) {
    // the SDK throws texts as well as errors
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new SluiceError('INVALID_CONFIG', `The credentials of provider "${providerId}" cannot be read: ${why}`, {
      hint: 'Give `auth`: a profile of the configuration file, a key, or a provider of the SDK.',
      reason: 'provider.auth',
      cause,
    })
  }
}

function isCredentials(auth: unknown): auth is OciCredentials {
  return typeof (auth as { getKeyId?: unknown } | null | undefined)?.getKeyId === 'function'
}
