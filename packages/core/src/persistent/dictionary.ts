const bits = 5
const mask = 31
const deepest = 30

/** `bitmap` says which of the 32 slots are in use; `slots` has only those, in order. */
interface Branch<V> {
  readonly kind: 'branch'
  readonly bitmap: number
  readonly slots: readonly Slot<V>[]
}
interface Entry<V> {
  readonly kind: 'entry'
  readonly hash: number
  readonly key: string
  readonly value: V
}
/** Entries whose keys have the same 32-bit hash. */
interface Clash<V> {
  readonly kind: 'clash'
  readonly hash: number
  readonly entries: readonly Entry<V>[]
}
type Slot<V> = Branch<V> | Entry<V> | Clash<V>

/**
 * A map that views can keep beside their lists: immutable, sharing structure, O(log32 n) to read and set. It is an
 * index, not data, so `toJSON` leaves it out.
 */
export class Dictionary<V> implements Iterable<readonly [string, V]> {
  static readonly empty: Dictionary<never> = new Dictionary<never>({ kind: 'branch', bitmap: 0, slots: [] })

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
      if (slot.kind === 'entry') return slot.key === key ? slot.value : undefined
      if (slot.kind === 'clash') return slot.entries.find((entry) => entry.key === key)?.value
      node = slot
    }
  }

  set(key: string, value: V): Dictionary<V> {
    const root = put(this.#root, { kind: 'entry', hash: hashOf(key), key, value }, 0)
    return root === this.#root ? this : new Dictionary(root)
  }

  /** The same reference when there is no such key. */
  delete(key: string): Dictionary<V> {
    const root = without(this.#root, hashOf(key), key, 0)
    return root === this.#root ? this : new Dictionary(root ?? { kind: 'branch', bitmap: 0, slots: [] })
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
    return { kind: 'branch', bitmap: node.bitmap | bit, slots: node.slots.toSpliced(index, 0, entry) }
  }
  const next = joined(slot, entry, shift)
  return next === slot ? node : { kind: 'branch', bitmap: node.bitmap, slots: node.slots.with(index, next) }
}

function joined<V>(slot: Slot<V>, entry: Entry<V>, shift: number): Slot<V> {
  if (slot.kind === 'branch') return put(slot, entry, shift + bits)
  if (slot.kind === 'entry' && slot.key === entry.key) return Object.is(slot.value, entry.value) ? slot : entry
  if (slot.hash === entry.hash || shift >= deepest) return clashed(slot, entry)
  const bit = 1 << ((slot.hash >>> (shift + bits)) & mask)
  return put({ kind: 'branch', bitmap: bit, slots: [slot] }, entry, shift + bits)
}

function clashed<V>(slot: Entry<V> | Clash<V>, entry: Entry<V>): Slot<V> {
  const entries = slot.kind === 'entry' ? [slot] : slot.entries
  const at = entries.findIndex(({ key }) => key === entry.key)
  if (at >= 0 && Object.is(entries[at]?.value, entry.value)) return slot
  const all = at >= 0 ? entries.with(at, entry) : [...entries, entry].sort((a, b) => (a.key < b.key ? -1 : 1))
  return { kind: 'clash', hash: entry.hash, entries: all }
}

/** The branch without one key; undefined when nothing is left, so that empty branches do not accumulate. */
function without<V>(node: Branch<V>, hash: number, key: string, shift: number): Branch<V> | undefined {
  const bit = 1 << ((hash >>> shift) & mask)
  const index = ones(node.bitmap & (bit - 1))
  const slot = (node.bitmap & bit) === 0 ? undefined : node.slots[index]
  if (slot === undefined) return node
  const next = slot.kind === 'branch' ? without(slot, hash, key, shift + bits) : withoutKey(slot, key)
  if (next === slot) return node
  if (next !== undefined) return { kind: 'branch', bitmap: node.bitmap, slots: node.slots.with(index, next) }
  if (node.slots.length === 1) return undefined
  return { kind: 'branch', bitmap: node.bitmap & ~bit, slots: node.slots.toSpliced(index, 1) }
}

function withoutKey<V>(slot: Entry<V> | Clash<V>, key: string): Slot<V> | undefined {
  if (slot.kind === 'entry') return slot.key === key ? undefined : slot
  const entries = slot.entries.filter((entry) => entry.key !== key)
  if (entries.length === slot.entries.length) return slot
  return entries.length === 1 ? entries[0] : { kind: 'clash', hash: slot.hash, entries }
}

function* entriesOf<V>(node: Branch<V>): Generator<readonly [string, V], void, undefined> {
  for (const slot of node.slots) {
    if (slot.kind === 'branch') yield* entriesOf(slot)
    else if (slot.kind === 'entry') yield [slot.key, slot.value]
    else for (const { key, value } of slot.entries) yield [key, value]
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
