import type { NodeId } from '../../event/run-event.ts'

/** What the facts of the nodes of each open run replaced, so that they can be taken back after a crash (SPEC 4.6). */
export class Undoing<T> {
  readonly #runs = new Map<string, Map<NodeId, { readonly at: number; readonly entry: T }[]>>()
  #count = 0

  note(run: string, node: NodeId | undefined, entry: T): void {
    if (node === undefined) return
    const nodes = this.#runs.get(run) ?? new Map()
    this.#runs.set(run, nodes)
    const entries = nodes.get(node) ?? []
    nodes.set(node, entries)
    this.#count += 1
    entries.push({ at: this.#count, entry })
  }

  /** The entries of these nodes, the latest first. They are given once. */
  take(run: string, nodes: readonly NodeId[]): readonly T[] {
    const known = this.#runs.get(run)
    const entries = nodes.flatMap((node) => known?.get(node) ?? [])
    for (const node of nodes) known?.delete(node)
    return entries.sort((a, b) => b.at - a.at).map(({ entry }) => entry)
  }

  /** The run has ended: its facts stay. */
  settle(run: string): void {
    this.#runs.delete(run)
  }
}
