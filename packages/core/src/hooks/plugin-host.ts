import { frameOf } from '../context/frame.js'
import type { TreeState } from '../context/frame.js'
import { SluiceError } from '../errors/sluice-error.js'
import { deepFreeze } from '../internal/deep-freeze.js'
import { isPlainJson, isThenable } from '../internal/json.js'
import type { JsonValue } from '../internal/json.js'
import type { Clock } from '../internal/clock.js'
import type { Ids } from '../internal/ids.js'
import type { Logger } from '../internal/logger.js'
import type { Store } from '../store/store.js'
import type { PluginHost, RunState } from './plugin.js'

/** The largest state of one plugin in one tree, as UTF-8 JSON. */
const MAX_STATE_BYTES = 65_536

/** What the hosts of all plugins of a runtime share. */
export interface HostParts {
  readonly runtimeKey: object
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
}

/** Makes the host of one plugin. `key` is its namespace for storage and state. */
export function createPluginHost<Options>(parts: HostParts, key: string, options: Options): PluginHost<Options> {
  const documents = parts.store.documents(`plugin:${key}`)
  const log = parts.store.log(`plugin:${key}`)
  const host = {
    options,
    storage: Object.freeze({ documents, log }),
    get run(): { readonly state: RunState } | undefined {
      const tree = frameOf(parts.runtimeKey)?.tree
      return tree?.stateOpen === true ? { state: runState(tree, key) } : undefined
    },
    clock: parts.clock,
    ids: parts.ids,
    logger: parts.logger,
  }
  return Object.freeze(host)
}

function runState(tree: TreeState, key: string): RunState {
  return {
    get: () => tree.state.get(key),
    update: <Next extends JsonValue>(change: (current: JsonValue | undefined) => Next): Next => {
      const next = change(tree.state.get(key))
      if (isThenable(next)) throw refused(key, 'is a promise', 'Compute it first and update synchronously.')
      if (!isPlainJson(next))
        throw refused(key, 'is not plain JSON data', 'Keep numbers, strings, booleans, null, arrays and plain objects.')
      const text = JSON.stringify(next)
      const bytes = Buffer.byteLength(text)
      if (bytes > MAX_STATE_BYTES) {
        throw new SluiceError(
          'LIMIT_EXCEEDED',
          `The run state of plugin "${key}" would have ${bytes} bytes; at most ${MAX_STATE_BYTES} are kept.`,
          {
            details: { plugin: key, bytes, limit: MAX_STATE_BYTES },
          },
        )
      }
      // a copy: what the plugin keeps of `next` cannot reach the stored state
      const copy = deepFreeze(JSON.parse(text) as Next)
      tree.state.set(key, copy)
      return copy
    },
  }
}

function refused(key: string, what: string, hint: string): SluiceError {
  return new SluiceError('STORE_VALUE_INVALID', `The run state that plugin "${key}" returned ${what}.`, {
    hint,
    details: { plugin: key },
  })
}
