import { SluiceError } from '@sluice/core'
import type { Ended } from '../scenes/desk-at-work.js'

/** What the one who asked is told: the answer, or why there is none. */
export function said(ended: Ended): string {
  if ('run' in ended) return ended.run.text ?? ''
  return SluiceError.isInstance(ended.error) ? ended.error.message : String(ended.error)
}
