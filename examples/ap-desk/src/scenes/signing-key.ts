import { generateKeyPairSync } from 'node:crypto'

const make = () =>
  ({
    tenancy: 'ocid1.tenancy.oc1..example',
    user: 'ocid1.user.oc1..example',
    fingerprint: '20:3b:97:13:55:1c:00:00:00:00:00:00:00:00:00:00',
    privateKey: generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    }).privateKey,
  }) as const

let made: ReturnType<typeof make> | undefined

/** Credentials of nobody, to sign requests that are replayed. Made at the first use, since that takes a moment. */
export function signingKey(): ReturnType<typeof make> {
  made ??= make()
  return made
}
