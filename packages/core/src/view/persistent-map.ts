/**
 * A map by string whose old versions stay as they were while new ones share almost everything with them (SPEC 5):
 * a hash trie, 32 wide, in which a change copies the few short arrays on its path.
 */
export interface PersistentMap<V> extends Iterable<readonly [key: string, value: V]> {
  readonly size: number
  get(key: string): V | undefined
  has(key: string): boolean
  /** The same map when it holds this very value already. */
  set(key: string, value: V): PersistentMap<V>
  /** The same map when there is no such key. */
  delete(key: string): PersistentMap<V>
}

/** The map without entries: where every map starts. */
export function emptyMap<V>(): PersistentMap<V> {
  return new HashTrie<V>(0, undefined)
}

const bits = 5
const mask = (1 << bits) - 1

interface Entry<V> {
  readonly hash: number
  readonly key: string
  readonly value: V
  /** Another key with the same hash. */
  readonly next: Entry<V> | undefined
}
interface Branch<V> {
  /** Which of the 32 slots are taken; `nodes` holds those, packed. */
  readonly taken: number
  readonly nodes: readonly Node<V>[]
}
type Node<V> = Branch<V> | Entry<V>

class HashTrie<V> implements PersistentMap<V> {
  readonly size: number
  readonly #root: Node<V> | undefined

  constructor(size: number, root: Node<V> | undefined) {
    this.size = size
    this.#root = root
  }

  get(key: string): V | undefined {
    return this.#entry(key)?.value
  }

  has(key: string): boolean {
    return this.#entry(key) !== undefined
  }

  set(key: string, value: V): PersistentMap<V> {
    const known = this.#entry(key)
    if (known !== undefined && Object.is(known.value, value)) return this
    const entry = { hash: hashOf(key), key, value, next: undefined }
    return new HashTrie(known === undefined ? this.size + 1 : this.size, withEntry(this.#root, 0, entry))
  }

  delete(key: string): PersistentMap<V> {
    if (this.#entry(key) === undefined) return this
    return new HashTrie(this.size - 1, without(this.#root, 0, hashOf(key), key))
  }

  *[Symbol.iterator](): Iterator<readonly [string, V]> {
    const stack: Node<V>[] = this.#root === undefined ? [] : [this.#root]
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      if ('nodes' in node) stack.push(...node.nodes)
      else
        for (let entry: Entry<V> | undefined = node; entry !== undefined; entry = entry.next)
          yield [entry.key, entry.value]
    }
  }

  #entry(key: string): Entry<V> | undefined {
    const hash = hashOf(key)
    let node = this.#root
    for (let shift = 0; node !== undefined && 'nodes' in node; shift += bits) {
      const slot = 1 << ((hash >>> shift) & mask)
      node = (node.taken & slot) === 0 ? undefined : node.nodes[packed(node.taken, slot)]
    }
    while (node !== undefined && node.key !== key) node = node.next
    return node
  }
}

function withEntry<V>(node: Node<V> | undefined, shift: number, entry: Entry<V>): Node<V> {
  if (node === undefined) return entry
  if (!('nodes' in node)) {
    if (node.hash === entry.hash) return { ...entry, next: chainWithout(node, entry.key) }
    return withEntry(branchOf(node, shift), shift, entry)
  }
  const slot = 1 << ((entry.hash >>> shift) & mask)
  const at = packed(node.taken, slot)
  if ((node.taken & slot) === 0) return { taken: node.taken | slot, nodes: node.nodes.toSpliced(at, 0, entry) }
  return { taken: node.taken, nodes: node.nodes.with(at, withEntry(node.nodes[at], shift + bits, entry)) }
}

function without<V>(node: Node<V> | undefined, shift: number, hash: number, key: string): Node<V> | undefined {
  if (node === undefined) return undefined
  if (!('nodes' in node)) return chainWithout(node, key)
  const slot = 1 << ((hash >>> shift) & mask)
  const at = packed(node.taken, slot)
  const rest = without(node.nodes[at], shift + bits, hash, key)
  if (rest !== undefined) return { taken: node.taken, nodes: node.nodes.with(at, rest) }
  return node.nodes.length === 1 ? undefined : { taken: node.taken & ~slot, nodes: node.nodes.toSpliced(at, 1) }
}

function branchOf<V>(entry: Entry<V>, shift: number): Branch<V> {
  return { taken: 1 << ((entry.hash >>> shift) & mask), nodes: [entry] }
}

/** In a loop, not by recursion: hostile keys can make a chain as long as they like. */
function chainWithout<V>(chain: Entry<V>, key: string): Entry<V> | undefined {
  let rest: Entry<V> | undefined
  for (let entry: Entry<V> | undefined = chain; entry !== undefined; entry = entry.next) {
    if (entry.key !== key) rest = { ...entry, next: rest }
  }
  return rest
}

/** Where the slot stands among those taken: the count of lower bits set. */
function packed(taken: number, slot: number): number {
  let lower = taken & (slot - 1)
  lower -= (lower >>> 1) & 0x55555555
  lower = (lower & 0x33333333) + ((lower >>> 2) & 0x33333333)
  return Math.imul((lower + (lower >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** FNV-1a, then mixed: ids that differ only in their last character must not share their low bits. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return (hash ^ (hash >>> 13)) >>> 0
}
