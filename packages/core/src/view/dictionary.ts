const bits = 5
const mask = 31
const deepest = 30

interface Entry<V> {
  readonly hash: number
  readonly key: string
  readonly value: V
}
/** `bitmap` says which of the 32 slots are there; `slots` holds those only, in order. */
interface Branch<V> {
  readonly bitmap: number
  readonly slots: readonly (Branch<V> | Bucket<V>)[]
}
/** Entries that share all hash bits seen so far: one, unless two keys have the same 32-bit hash. */
interface Bucket<V> {
  readonly entries: readonly Entry<V>[]
}

/**
 * A map that views can keep beside their lists: immutable, sharing structure, O(log32 n) to read and set. It is an
 * index, not data: `toJSON` leaves it out of what REST answers print.
 */
export class Dictionary<V> implements Iterable<readonly [string, V]> {
  static readonly empty: Dictionary<never> = new Dictionary<never>({ bitmap: 0, slots: [] })

  readonly #root: Branch<V>

  private constructor(root: Branch<V>) {
    this.#root = root
  }

  get(key: string): V | undefined {
    const hash = hashOf(key)
    let node = this.#root
    for (let shift = 0; ; shift += bits) {
      const bit = 1 << ((hash >>> shift) & mask)
      if ((node.bitmap & bit) === 0) return undefined
      const slot = node.slots[ones(node.bitmap & (bit - 1))]
      if (slot === undefined) return undefined
      if ('entries' in slot) return slot.entries.find((entry) => entry.key === key)?.value
      node = slot
    }
  }

  set(key: string, value: V): Dictionary<V> {
    const root = put(this.#root, { hash: hashOf(key), key, value }, 0)
    return root === this.#root ? this : new Dictionary(root)
  }

  /** The same reference when there is no such key. */
  delete(key: string): Dictionary<V> {
    const root = without(this.#root, hashOf(key), key, 0)
    return root === this.#root ? this : new Dictionary(root ?? { bitmap: 0, slots: [] })
  }

  /** In an order that depends on the keys alone, not on when they were set. */
  *[Symbol.iterator](): Generator<readonly [string, V], void, undefined> {
    yield* entriesOf(this.#root)
  }

  toJSON(): undefined {
    return undefined
  }
}

function put<V>(node: Branch<V>, entry: Entry<V>, shift: number): Branch<V> {
  const bit = 1 << ((entry.hash >>> shift) & mask)
  const index = ones(node.bitmap & (bit - 1))
  const slot = node.slots[index]
  if ((node.bitmap & bit) === 0 || slot === undefined) {
    return { bitmap: node.bitmap | bit, slots: node.slots.toSpliced(index, 0, { entries: [entry] }) }
  }
  const next = 'entries' in slot ? joined(slot, entry, shift) : put(slot, entry, shift + bits)
  return next === slot ? node : { bitmap: node.bitmap, slots: node.slots.with(index, next) }
}

function joined<V>(bucket: Bucket<V>, entry: Entry<V>, shift: number): Branch<V> | Bucket<V> {
  const at = bucket.entries.findIndex(({ key }) => key === entry.key)
  const before = bucket.entries[at]
  if (before !== undefined) {
    return Object.is(before.value, entry.value) ? bucket : { entries: bucket.entries.with(at, entry) }
  }
  const other = bucket.entries[0]
  if (other === undefined || other.hash === entry.hash || shift >= deepest) {
    return { entries: [...bucket.entries, entry].sort((a, b) => (a.key < b.key ? -1 : 1)) }
  }
  const slot = 1 << ((other.hash >>> (shift + bits)) & mask)
  return put({ bitmap: slot, slots: [bucket] }, entry, shift + bits)
}

/** The branch without one key; undefined when nothing is left of it, so that empty branches never pile up. */
function without<V>(node: Branch<V>, hash: number, key: string, shift: number): Branch<V> | undefined {
  const bit = 1 << ((hash >>> shift) & mask)
  const index = ones(node.bitmap & (bit - 1))
  const slot = (node.bitmap & bit) === 0 ? undefined : node.slots[index]
  if (slot === undefined) return node
  let next: Branch<V> | Bucket<V> | undefined
  if ('entries' in slot) {
    const entries = slot.entries.filter((entry) => entry.key !== key)
    if (entries.length === slot.entries.length) return node
    next = entries.length === 0 ? undefined : { entries }
  } else next = without(slot, hash, key, shift + bits)
  if (next === slot) return node
  if (next !== undefined) return { bitmap: node.bitmap, slots: node.slots.with(index, next) }
  return node.slots.length === 1 ? undefined : { bitmap: node.bitmap & ~bit, slots: node.slots.toSpliced(index, 1) }
}

function* entriesOf<V>(node: Branch<V>): Generator<readonly [string, V], void, undefined> {
  for (const slot of node.slots) {
    if ('entries' in slot) for (const { key, value } of slot.entries) yield [key, value]
    else yield* entriesOf(slot)
  }
}

/** FNV-1a, 32 bits. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  return hash >>> 0
}

function ones(bitmap: number): number {
  let n = bitmap - ((bitmap >>> 1) & 0x55555555)
  n = (n & 0x33333333) + ((n >>> 2) & 0x33333333)
  return Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
