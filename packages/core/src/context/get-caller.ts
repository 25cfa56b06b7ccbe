import type { ResolvedCaller } from './caller.js'
import { currentFrame } from './frame.js'

/**
 * The caller of the tree that is executing, in the innermost run of any runtime, from `beforeExecution` on; `null` outside
 * one. `audience` is one of three values: nobody is taken for a public visitor only because there is no session (H-5).
 */
export function getCaller(): ResolvedCaller | null {
  return (currentFrame()?.caller as ResolvedCaller | undefined) ?? null
}
