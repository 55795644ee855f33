import type { ArtifactSaved, DataChanged, NodeId, Superseded } from '../../event/run-event.ts'
import { Undoing } from './undoing.ts'

/** One artifact or data item that was taken back: as it is again, and the lost one; `before` is absent if it was new. */
export interface TakenBack<T> {
  readonly lost: T
  readonly before: T | undefined
}

/** The newest event about each artifact or data item, so that those of a lost attempt can be taken back (SPEC 4.6). */
export class PlanItems<T extends ArtifactSaved | DataChanged> {
  readonly #items = new Map<string, T>()
  readonly #undoing = new Undoing<TakenBack<T>>()

  get(id: string): T | undefined {
    return this.#items.get(id)
  }

  set(item: T, run: string, node: NodeId | undefined): void {
    this.#undoing.note(run, node, { lost: item, before: this.#items.get(item.id) })
    this.#items.set(item.id, item)
  }

  /** One that another node or a person changed in the meantime stays as it is. */
  takeBack(run: string, { nodes }: Superseded): readonly TakenBack<T>[] {
    const back = new Map<string, TakenBack<T>>()
    for (const { lost, before } of this.#undoing.take(run, nodes)) {
      if (this.#items.get(lost.id) !== lost) continue
      if (before === undefined) this.#items.delete(lost.id)
      else this.#items.set(lost.id, before)
      back.set(lost.id, { lost: back.get(lost.id)?.lost ?? lost, before })
    }
    return [...back.values()]
  }

  settle(run: string): void {
    this.#undoing.settle(run)
  }
}
