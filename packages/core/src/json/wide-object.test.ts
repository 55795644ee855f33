import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { applyState } from '../event/state-fold.ts'
import { changedKeys } from './changed-keys.ts'
import type { Json, JsonObject, PatchOp } from './json.ts'
import { measure } from './measure.ts'
import { copyObject, deleteKey, keyCount, plainJson, setKey, wideFrom } from './wide-object.ts'

/** A plain object with this many keys. */
const keysOf = (count: number): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i % 9 === 0 ? { n: i } : i]))
const none: ReadonlySet<object> = new Set()

type Change = readonly [key: string, value: Json | undefined]

/** What `copyObject`, `setKey` and `deleteKey` do, with a copy of all keys. */
function copied(object: JsonObject, [key, value]: Change): JsonObject {
  const entries = Object.entries(object)
  if (value === undefined) return Object.fromEntries(entries.filter(([each]) => each !== key))
  return Object.fromEntries([...entries, [key, value]])
}

function changed(object: JsonObject, [key, value]: Change): JsonObject {
  const next = copyObject(object)
  if (value !== undefined) setKey(next, key, value)
  else if (Object.hasOwn(next, key)) deleteKey(next, key)
  return next
}

const change: fc.Arbitrary<Change> = fc.tuple(
  fc.oneof(
    fc.integer({ min: 0, max: 540 }).map((i) => `k${i}`),
    fc.constantFrom('new', '7', 'toJSON', 'constructor', 'k0', 'k1', 'k2', '__proto__'),
  ),
  fc.option(fc.constantFrom<Json>(1, null, 'text', [], { deep: [{ er: 1 }] }), { nil: undefined }),
)

describe('a wide object', () => {
  test('is to every reader what a copy of all keys is, and no version changes', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 150 }), (changes) => {
        const versions: [JsonObject, string][] = []
        let plain = keysOf(530)
        let wide = plain
        for (const one of changes) {
          const [before, after] = [wide, changed(wide, one)]
          const next = copied(plain, one)
          expect(changedKeys(before, after)).toEqual(changedKeys(plain, next))
          expect(keyCount(after)).toBe(Object.keys(next).length)
          if (Object.hasOwn(next, one[0])) expect(after[one[0]]).toEqual(next[one[0]])
          expect(Object.hasOwn(after, one[0])).toBe(Object.hasOwn(next, one[0]))
          expect(measure(after, none)).toEqual(measure(next, none))
          wide = after
          plain = next
          versions.push([after, JSON.stringify(next)])
        }
        for (const [version, text] of versions) expect(JSON.stringify(version)).toBe(text)
        expect(Object.keys(wide)).toEqual(Object.keys(plain))
        expect({ ...wide }).toEqual(plain)
        expect(structuredClone(plainJson(wide))).toEqual(plain)
      }),
      { numRuns: 40 },
    )
  })

  test('cannot be written by a reader', () => {
    const wide = changed(keysOf(wideFrom + 1), ['a', 1])
    expect(Reflect.set(wide, 'a', 2)).toBe(false)
    expect(Reflect.deleteProperty(wide, 'a')).toBe(false)
    expect(Reflect.defineProperty(wide, 'b', { value: 1 })).toBe(false)
    expect('a' in wide && !('b' in wide) && 'toString' in wide).toBe(true)
    expect(wide).toEqual({ ...keysOf(wideFrom + 1), a: 1 })
    expect(Object.getOwnPropertySymbols(wide)).toEqual([])
    expect(Reflect.get(wide, Symbol.iterator)).toBeUndefined()
  })

  test('a small object is copied', () => {
    const made = copyObject({ a: 1 })
    setKey(made, '__proto__', 1)
    deleteKey(made, 'a')
    expect(Object.entries(made)).toEqual([['__proto__', 1]])
    expect(keyCount(made)).toBe(1)
  })

  test('plainJson keeps what is plain already, and replaces wide objects at any depth', () => {
    const start: JsonObject = { list: [1, { wide: keysOf(600) }], rest: { a: [] } }
    expect(plainJson(start)).toBe(start)
    const op: PatchOp = { op: 'add', path: '/list/1/wide/new', value: true }
    const patched = applyState(start, { kind: 'state', patch: [op] })
    expect(() => structuredClone(patched)).toThrow()
    const plain = plainJson(patched)
    expect(structuredClone(plain)).toEqual({ list: [1, { wide: { ...keysOf(600), new: true } }], rest: { a: [] } })
    expect(plain.rest).toBe(start.rest)
    expect(plainJson(plain)).toBe(plain)
  })
})

describe('a change of one key costs the key', () => {
  /** How often the keys of a large object are listed, which is what makes a change expensive. */
  const listings = (changes: number, op: (index: number) => readonly PatchOp[]): number => {
    let listed = 0
    const counted = new Proxy(keysOf(20_000), {
      ownKeys: (target) => {
        listed += 1
        return Reflect.ownKeys(target)
      },
    })
    let state: JsonObject = { big: counted }
    for (let i = 0; i < changes; i++) state = applyState(state, { kind: 'state', patch: op(i) })
    return listed
  }

  test('patches, copies, moves and tests list the keys of a wide object once', () => {
    expect(listings(200, (i) => [{ op: 'replace', path: `/big/k${i + 1}`, value: 'x' }])).toBeLessThan(5)
    expect(listings(200, (i) => [{ op: 'copy', from: '/big/k5', path: `/big/c${i}` }])).toBeLessThan(5)
    expect(listings(100, (i) => [{ op: 'move', from: `/big/k${i}`, path: `/big/c${i}` }])).toBeLessThan(5)
    expect(
      listings(200, (i) => [
        { op: 'remove', path: `/big/k${i}` },
        { op: 'test', path: '/big/k9999', value: 'other' },
      ]),
    ).toBeLessThan(5)
  })
})
