export type { OciAuth, OciCredentials, OciKey, OciProfile } from './oci-auth.js'
export type { OciOptions } from './oci-provider.js'
export { oci } from './oci-provider.js'
