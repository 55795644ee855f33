import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Dictionary } from './dictionary.ts'
import { Sequence } from './sequence.ts'

describe('Sequence', () => {
  test('is a list whatever its length, and every earlier version stays as it was', () => {
    // 1,024 + 32 is where the second level begins, 32,768 + 32 the third.
    const versions = [0, 1, 31, 32, 33, 63, 64, 65, 1055, 1056, 1057, 1088, 1089, 32_800, 32_801, 40_000]
    let list: Sequence<number> = Sequence.empty
    const kept = new Map<number, Sequence<number>>([[0, list]])
    for (let i = 0; i < 40_000; i++) {
      list = list.append(i)
      if (versions.includes(i + 1)) kept.set(i + 1, list)
    }
    for (const length of versions) {
      const version = kept.get(length)!
      expect(version.length).toBe(length)
      expect([...version]).toEqual(Array.from({ length }, (_, i) => i))
      expect(version.toArray()).toEqual([...version])
      expect(version.at(length)).toBeUndefined()
      expect(version.at(-1)).toBe(length === 0 ? undefined : length - 1)
      for (let i = 0; i < length; i += 97) expect(version.at(i)).toBe(i)
    }
  })

  test('with() replaces one item and shares the rest', () => {
    const objects = Array.from({ length: 2000 }, (_, i) => ({ i }))
    const before = Sequence.from(objects)
    for (const at of [0, 31, 32, 1023, 1024, 1983, 1984, 1999]) {
      const made = { i: -at }
      const after = before.with(at, made)
      expect(after.at(at)).toBe(made)
      expect(before.at(at)).toBe(objects[at])
      expect(after.toArray().filter((item, i) => item !== objects[i])).toEqual([made])
    }
  })

  test('the same reference when nothing changed', () => {
    const list = Sequence.from(['a', 'b'])
    expect(list.with(1, 'b')).toBe(list)
    expect(list.toArray()).toBe(list.toArray())
    expect(JSON.stringify({ list })).toBe('{"list":["a","b"]}')
  })

  test('behaves as an array under random operations', () => {
    const operation = fc.oneof(
      fc.record({ op: fc.constant('append' as const), value: fc.integer() }),
      fc.record({ op: fc.constant('with' as const), at: fc.nat(), value: fc.integer() }),
    )
    fc.assert(
      fc.property(fc.nat({ max: 1100 }), fc.array(operation, { maxLength: 80 }), (grown, operations) => {
        const model = Array.from({ length: grown }, (_, i) => i)
        let list: Sequence<number> = Sequence.from(model)
        for (const step of operations) {
          if (step.op === 'append') {
            model.push(step.value)
            list = list.append(step.value)
          } else if (model.length > 0) {
            const at = step.at % model.length
            model[at] = step.value
            list = list.with(at, step.value)
          }
        }
        expect([...list]).toEqual(model)
      }),
      { numRuns: 50 },
    )
  })

  test('an index outside is a programmer error', () => {
    expect(() => Sequence.from([1]).with(1, 2)).toThrow('index 1 is outside a sequence of 1 items')
    expect(() => Sequence.from([1]).with(-1, 2)).toThrow('index -1 is outside a sequence of 1 items')
  })
})

describe('Dictionary', () => {
  test('behaves as a Map, and keeps every earlier version', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string({ maxLength: 3 }), fc.integer()), { maxLength: 300 }), (entries) => {
        const half = entries.slice(0, entries.length / 2)
        const build = (from: typeof entries) =>
          from.reduce<Dictionary<number>>((made, [key, value]) => made.set(key, value), Dictionary.empty)
        const before = build(half)
        const after = entries.slice(half.length).reduce((made, [key, value]) => made.set(key, value), before)
        for (const [version, model] of [
          [before, new Map(half)],
          [after, new Map(entries)],
        ] as const) {
          expect(new Map(version)).toEqual(model)
          for (const [key] of entries) expect(version.get(key)).toBe(model.get(key))
        }
      }),
    )
  })

  test('holds 10,000 keys, and keys whose 32-bit hashes collide', () => {
    let made: Dictionary<number> = Dictionary.empty
    for (let i = 0; i < 10_000; i++) made = made.set(`key ${i}`, i)
    for (let i = 0; i < 10_000; i += 101) expect(made.get(`key ${i}`)).toBe(i)
    expect([...made].length).toBe(10_000)
    // FNV-1a gives both of each pair the same 32 bits.
    for (const [a, b] of [
      ['costarring', 'liquid'],
      ['declinate', 'macallums'],
    ] as const) {
      const both = made.set(a, 1).set(b, 2)
      expect([both.get(a), both.get(b), made.get(a)]).toEqual([1, 2, undefined])
      expect([...both.set(a, 3)]).toEqual([...made.set(b, 2).set(a, 3)])
    }
  })

  test('delete() leaves what a Map would, and the map before it as it was', () => {
    const key = fc.oneof(fc.string({ maxLength: 2 }), fc.constantFrom('costarring', 'liquid', '__proto__'))
    fc.assert(
      fc.property(fc.array(fc.tuple(key, fc.boolean()), { maxLength: 300 }), (steps) => {
        const model = new Map<string, number>()
        let made: Dictionary<number> = Dictionary.empty
        for (const [at, [name, sets]] of steps.entries()) {
          const before = new Map(made)
          const next: Dictionary<number> = sets ? made.set(name, at) : made.delete(name)
          if (sets) model.set(name, at)
          else if (!model.delete(name)) expect(next).toBe(made)
          expect(new Map(made)).toEqual(before)
          made = next
        }
        expect(new Map(made)).toEqual(model)
        for (const name of model.keys()) made = made.delete(name)
        expect(made).toEqual(Dictionary.empty)
      }),
      { numRuns: 50 },
    )
  })

  test('the same reference when nothing changed, and absent from JSON', () => {
    const one = Dictionary.empty.set('a', 1 as never)
    expect(one.set('a', 1 as never)).toBe(one)
    expect(JSON.stringify({ one })).toBe('{}')
  })
})
