/**
 * A list whose old versions stay as they were while new ones share almost everything with them: what a view needs to
 * be a pure fold at a constant cost per event (SPEC 5). Copying a plain array on every push costs as much as the list
 * is long; at 100,000 events that is eight times the fold itself.
 *
 * A tree of 32-wide blocks with the newest block apart, so that a push, or a change of the newest items, copies one
 * short array.
 */
export interface PersistentList<T> extends Iterable<T> {
  readonly length: number
  /** Like Array's: a negative index counts from the end. */
  at(index: number): T | undefined
  push(value: T): PersistentList<T>
  /** The list with one item replaced; the same list when that changes nothing or there is no such index. */
  with(index: number, value: T): PersistentList<T>
  /** The items from `start` on, as an array; a negative `start` counts from the end. */
  slice(start?: number): readonly T[]
  toJSON(): readonly T[]
}

/** The list without items: where every list starts. */
export function emptyList<T>(): PersistentList<T> {
  return new BlockList<T>(0, 1, { nodes: [] }, [])
}

const bits = 5
const width = 1 << bits
const mask = width - 1

interface Leaf<T> {
  readonly items: readonly T[]
}
interface Branch<T> {
  readonly nodes: readonly (Branch<T> | Leaf<T>)[]
}
type Node<T> = Branch<T> | Leaf<T>

class BlockList<T> implements PersistentList<T> {
  readonly length: number
  /** How many branch levels stand above the leaves. */
  readonly #levels: number
  readonly #root: Node<T>
  readonly #tail: readonly T[]

  constructor(length: number, levels: number, root: Node<T>, tail: readonly T[]) {
    this.length = length
    this.#levels = levels
    this.#root = root
    this.#tail = tail
  }

  at(index: number): T | undefined {
    const at = index < 0 ? this.length + index : index
    return at >= 0 && at < this.length ? this.#blockOf(at)[at & mask] : undefined
  }

  push(value: T): PersistentList<T> {
    if (this.#tail.length < width)
      return new BlockList(this.length + 1, this.#levels, this.#root, [...this.#tail, value])
    const inTree = this.length - width
    const full = { items: this.#tail }
    const grown = inTree === 2 ** (bits * (this.#levels + 1))
    const levels = grown ? this.#levels + 1 : this.#levels
    const root = grown ? { nodes: [this.#root] } : this.#root
    return new BlockList(this.length + 1, levels, withLeaf(root, levels, inTree, full), [value])
  }

  with(index: number, value: T): PersistentList<T> {
    const at = index < 0 ? this.length + index : index
    if (at < 0 || at >= this.length) return this
    const block = this.#blockOf(at)
    if (block[at & mask] === value) return this
    const changed = block.with(at & mask, value)
    if (block === this.#tail) return new BlockList(this.length, this.#levels, this.#root, changed)
    const root = withLeaf(this.#root, this.#levels, at, { items: changed })
    return new BlockList(this.length, this.#levels, root, this.#tail)
  }

  slice(start = 0): readonly T[] {
    const from = Math.max(0, start < 0 ? this.length + start : start)
    const items: T[] = []
    for (let block = from - (from & mask); block < this.length; block += width) {
      for (const item of this.#blockOf(block)) items.push(item)
    }
    return (from & mask) === 0 ? items : items.slice(from & mask)
  }

  *[Symbol.iterator](): Iterator<T> {
    for (let block = 0; block < this.length; block += width) yield* this.#blockOf(block)
  }

  toJSON(): readonly T[] {
    return this.slice()
  }

  #blockOf(index: number): readonly T[] {
    if (index >= this.length - this.#tail.length) return this.#tail
    let node: Node<T> | undefined = this.#root
    for (let level = this.#levels; node !== undefined && 'nodes' in node; level--) {
      node = node.nodes[(index >>> (level * bits)) & mask]
    }
    return node?.items ?? []
  }
}

/** The tree with one leaf put at the place of `index`: only the blocks on its path are copied. */
function withLeaf<T>(node: Node<T> | undefined, level: number, index: number, leaf: Leaf<T>): Node<T> {
  if (level === 0) return leaf
  const nodes = node !== undefined && 'nodes' in node ? [...node.nodes] : []
  const slot = (index >>> (level * bits)) & mask
  nodes[slot] = withLeaf(nodes[slot], level - 1, index, leaf)
  return { nodes }
}
