import { type StateSnapshot, snapshots, type Timeline } from '@millrace/core'

/** The snapshots of a stream, and which of them is selected. */
export interface SnapshotList {
  readonly snapshots: StateSnapshot[]
  /** -1 while there are no snapshots; otherwise always a valid index. */
  readonly currentSnapshotIndex: number
}

/**
 * Follows the newest snapshot until another one is chosen, and then stays with that one, however many are added after it
 * or dropped before it. (ADK Studio keeps a plain counter instead, and shows nothing once 100 have been dropped.)
 */
export class SnapshotIndex {
  #all: StateSnapshot[] = []
  #executions: Timeline['executions'] | undefined
  #most = Number.POSITIVE_INFINITY
  /** The chosen snapshot, counted from the first of the stream; undefined: the newest. */
  #chosen: number | undefined
  #list: SnapshotList = { snapshots: [], currentSnapshotIndex: -1 }

  read({ executions }: Timeline, most: number): SnapshotList {
    if (executions === this.#executions && most === this.#most) return this.#list
    if (executions !== this.#executions) this.#all = snapshots({ executions })
    this.#executions = executions
    this.#most = most
    return this.#listed()
  }

  /** Choosing the last snapshot, or an index beyond it, follows the newest again. */
  choose(index: number): SnapshotList {
    const { snapshots: kept } = this.#list
    const wanted = Math.max(0, Math.trunc(index))
    if (!Number.isNaN(wanted)) this.#chosen = wanted < kept.length - 1 ? this.#dropped() + wanted : undefined
    return this.#listed()
  }

  #dropped(): number {
    return Math.max(0, this.#all.length - Math.max(1, Math.trunc(this.#most)))
  }

  #listed(): SnapshotList {
    const dropped = this.#dropped()
    const known = this.#list.snapshots
    const same = dropped === 0 ? this.#all : this.#all.slice(dropped)
    const kept = same.length === known.length && same.every((each, i) => each === known[i]) ? known : same
    const last = kept.length - 1
    const index = this.#chosen === undefined ? last : Math.min(last, Math.max(0, this.#chosen - dropped))
    this.#list = { snapshots: kept, currentSnapshotIndex: index }
    return this.#list
  }
}
