import type { JsonObject, JsonValue, Label } from '@sluice/core'
import type { Path, Resolved } from './path.js'
import { resolvePath } from './path.js'

/** Where a workflow stands: its input, the outputs of its steps, and where they came from (W-5). */
export class WorkflowState {
  readonly input: JsonObject
  readonly #inputLabels: readonly Label[]
  readonly #steps: Record<string, JsonValue> = {}
  readonly #errors: Record<string, JsonValue> = {}
  readonly #labels = new Map<string, readonly Label[]>()
  /** Completed iterations of a loop; `undefined` in other workflows. */
  iterations: number | undefined

  constructor(input: JsonObject, inputLabels: readonly Label[]) {
    this.input = input
    this.#inputLabels = inputLabels
  }

  /** Keeps what a step came to; a later one with the same key writes over it (W-7). */
  put(
    key: string,
    output: { readonly value: JsonValue; readonly labels: readonly Label[]; readonly error?: string },
  ): void {
    this.#steps[key] = output.value
    this.#labels.set(key, output.labels)
    if (output.error === undefined) delete this.#errors[key]
    else this.#errors[key] = output.error
  }

  resolve(path: Path): Resolved {
    return resolvePath(path, this.#roots())
  }

  /** Sources of untrusted text in what the paths lead to. */
  labelsOf(paths: readonly Path[]): readonly Label[] {
    const found = new Map<string, Label>()
    const add = (labels: readonly Label[] | undefined): void => {
      for (const label of labels ?? []) found.set(JSON.stringify([label.kind, label.source]), label)
    }
    for (const { segments } of paths) {
      const [root, key] = segments
      if (root === 'input') add(this.#inputLabels)
      else if (root !== 'steps') continue
      else if (key === undefined) for (const labels of this.#labels.values()) add(labels)
      else add(this.#labels.get(String(key)))
    }
    return [...found.values()]
  }

  get inputLabels(): readonly Label[] {
    return this.#inputLabels
  }

  /** A copy of the outputs: later ones leave it as it is (W-34). */
  outputs(): JsonObject {
    return { ...this.#steps }
  }

  /** The state under the original's keys. */
  toJson(): JsonObject {
    return {
      input: this.input,
      steps: { ...this.#steps },
      ...(Object.keys(this.#errors).length === 0 ? {} : { steps_errors: { ...this.#errors } }),
      ...(this.iterations === undefined ? {} : { _loop_iterations: this.iterations }),
    }
  }

  #roots(): { readonly [root: string]: JsonValue } {
    return {
      input: this.input,
      steps: this.#steps,
      steps_errors: this.#errors,
      ...(this.iterations === undefined ? {} : { _loop_iterations: this.iterations }),
    }
  }
}
