import type { Wire } from './wire-json.js'
import { isWire } from './wire-json.js'

/** The part of `root` that a reference inside it points at; `undefined` where there is none. */
export function resolveRef(root: Wire, ref: string): unknown {
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return undefined
  let node: unknown = root
  for (const segment of ref.slice(2).split('/')) {
    const key = decodeURIComponent(segment).replace(/~1/g, '/').replace(/~0/g, '~')
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) return undefined
    node = (node as Wire)[key]
  }
  return node
}

/** True where following references from `root` comes back to where it was. */
export function isRecursive(root: Wire): boolean {
  const done = new Set<unknown>()
  const open = new Set<unknown>()
  const visit = (node: unknown): boolean => {
    if (typeof node !== 'object' || node === null || done.has(node)) return false
    if (open.has(node)) return true
    open.add(node)
    const found =
      Object.values(node).some(visit) ||
      (isWire(node) && typeof node.$ref === 'string' && visit(resolveRef(root, node.$ref)))
    open.delete(node)
    done.add(node)
    return found
  }
  return visit(root)
}
