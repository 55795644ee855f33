import { MillraceError } from '../event/problem.ts'

const bits = 5
const width = 1 << bits

type Trie<T> = Leaf<T> | Branch<T>
interface Leaf<T> {
  readonly items: readonly T[]
}
interface Branch<T> {
  readonly nodes: readonly Trie<T>[]
}

/**
 * A list that views can keep: immutable, sharing structure with the list before (SPEC 5.2). Copying a plain array per
 * event was measured at eight times the cost of the fold itself for 100,000 events; here `append` copies at most 32
 * slots and `with` 32 per level, of which 100,000 items have four.
 */
export class Sequence<T> implements Iterable<T> {
  static readonly empty: Sequence<never> = new Sequence<never>(0, bits, { nodes: [] }, [])

  readonly length: number
  readonly #shift: number
  readonly #root: Branch<T>
  readonly #tail: readonly T[]
  #array: readonly T[] | undefined

  private constructor(length: number, shift: number, root: Branch<T>, tail: readonly T[]) {
    this.length = length
    this.#shift = shift
    this.#root = root
    this.#tail = tail
  }

  static from<T>(items: Iterable<T>): Sequence<T> {
    let made: Sequence<T> = Sequence.empty
    for (const item of items) made = made.append(item)
    return made
  }

  /** As Array.prototype.at: negative counts from the end, undefined outside. */
  at(index: number): T | undefined {
    const i = index < 0 ? this.length + index : index
    if (!(i >= 0 && i < this.length)) return undefined
    const inTail = i - (this.length - this.#tail.length)
    if (inTail >= 0) return this.#tail[inTail]
    let node: Trie<T> | undefined = this.#root
    for (let shift = this.#shift; node !== undefined; shift -= bits) {
      if ('items' in node) return node.items[i & (width - 1)]
      node = node.nodes[(i >>> shift) & (width - 1)]
    }
    return undefined
  }

  append(item: T): Sequence<T> {
    if (this.#tail.length < width) {
      return new Sequence(this.length + 1, this.#shift, this.#root, [...this.#tail, item])
    }
    const leaf: Leaf<T> = { items: this.#tail }
    const stored = this.length - width
    const full = stored === 1 << (this.#shift + bits)
    const root: Branch<T> = full
      ? { nodes: [this.#root, chain(leaf, this.#shift)] }
      : pushed(this.#root, leaf, stored, this.#shift)
    return new Sequence(this.length + 1, full ? this.#shift + bits : this.#shift, root, [item])
  }

  /** The same list with one item replaced; the same reference when the item is the same. */
  with(index: number, item: T): Sequence<T> {
    if (!(index >= 0 && index < this.length)) {
      throw new MillraceError('invalid', `index ${index} is outside a sequence of ${this.length} items`, {
        index,
        length: this.length,
      })
    }
    if (Object.is(this.at(index), item)) return this
    const inTail = index - (this.length - this.#tail.length)
    if (inTail >= 0) return new Sequence(this.length, this.#shift, this.#root, this.#tail.with(inTail, item))
    const root = replaced(this.#root, index, this.#shift, item)
    return new Sequence(this.length, this.#shift, root, this.#tail)
  }

  *[Symbol.iterator](): Generator<T, void, undefined> {
    yield* itemsOf(this.#root)
    yield* this.#tail
  }

  /** Made once per list, so that React and memoised selectors see one reference for one list. */
  toArray(): readonly T[] {
    if (this.#array === undefined) {
      const made: T[] = []
      collect(this.#root, made)
      made.push(...this.#tail)
      this.#array = made
    }
    return this.#array
  }

  toJSON(): readonly T[] {
    return this.toArray()
  }
}

/** A view's state as JSON carries it: its sequences printed as arrays, its indexes left out. */
export type Printed<S> = {
  readonly [K in keyof S]: S[K] extends Sequence<infer T> ? readonly T[] : S[K]
}

function pushed<T>(node: Branch<T>, leaf: Leaf<T>, index: number, shift: number): Branch<T> {
  if (shift === bits) return { nodes: [...node.nodes, leaf] }
  const slot = (index >>> shift) & (width - 1)
  const child = node.nodes[slot]
  if (child === undefined || 'items' in child) return { nodes: [...node.nodes, chain(leaf, shift - bits)] }
  return { nodes: node.nodes.with(slot, pushed(child, leaf, index, shift - bits)) }
}

function chain<T>(leaf: Leaf<T>, shift: number): Branch<T> {
  let node: Branch<T> = { nodes: [leaf] }
  for (let at = bits; at < shift; at += bits) node = { nodes: [node] }
  return node
}

function replaced<T>(node: Branch<T>, index: number, shift: number, item: T): Branch<T> {
  const slot = (index >>> shift) & (width - 1)
  const child = node.nodes[slot]
  if (child === undefined) return node
  const next: Trie<T> =
    'items' in child
      ? { items: child.items.with(index & (width - 1), item) }
      : replaced(child, index, shift - bits, item)
  return { nodes: node.nodes.with(slot, next) }
}

function* itemsOf<T>(node: Branch<T>): Generator<T, void, undefined> {
  for (const child of node.nodes) {
    if ('items' in child) yield* child.items
    else yield* itemsOf(child)
  }
}

function collect<T>(node: Branch<T>, into: T[]): void {
  for (const child of node.nodes) {
    if ('items' in child) into.push(...child.items)
    else collect(child, into)
  }
}
