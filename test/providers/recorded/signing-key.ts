import { generateKeyPairSync } from 'node:crypto'

/** A key that signs for nobody, made for this process. */
const pair = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})

/** The public half, for who checks a signature. */
export const PUBLIC_KEY: string = pair.publicKey

/** Credentials of nobody. */
export const SIGNING_KEY = {
  tenancy: 'ocid1.tenancy.oc1..example',
  user: 'ocid1.user.oc1..example',
  fingerprint: '20:3b:97:13:55:1c:00:00:00:00:00:00:00:00:00:00',
  privateKey: pair.privateKey,
} as const
