import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { emptyList } from './persistent-list.ts'
import { emptyMap } from './persistent-map.ts'

const listStep = fc.oneof(
  { weight: 3, arbitrary: fc.record({ op: fc.constant('push' as const), value: fc.nat() }) },
  fc.record({ op: fc.constant('with' as const), index: fc.integer({ min: -50, max: 1200 }), value: fc.nat() }),
)

describe('persistent list', () => {
  test('does what an array does, and every old version stays as it was', () => {
    fc.assert(
      fc.property(fc.array(listStep, { maxLength: 1500, size: 'max' }), (steps) => {
        let list = emptyList<number>()
        let model: number[] = []
        const versions = [{ list, model }]
        for (const step of steps) {
          list = step.op === 'push' ? list.push(step.value) : list.with(step.index, step.value)
          model = step.op === 'push' ? [...model, step.value] : changed(model, step.index, step.value)
          versions.push({ list, model })
        }
        for (const [at, version] of versions.entries()) {
          if (at % 97 !== 0 && at !== versions.length - 1) continue
          expect(version.list.slice()).toEqual(version.model)
          expect([...version.list]).toEqual(version.model)
          expect(version.list.length).toBe(version.model.length)
        }
      }),
      { numRuns: 25 },
    )
  })

  test('reaches every item across block and level borders', () => {
    let list = emptyList<number>()
    const size = 32 ** 3 + 32 * 32 + 7
    for (let i = 0; i < size; i++) list = list.push(i)
    for (let i = 0; i < size; i++) if (list.at(i) !== i) throw new Error(`item ${i} is ${list.at(i)}`)
    expect(list.at(-1)).toBe(size - 1)
    expect(list.at(size)).toBeUndefined()
    expect(list.at(-size - 1)).toBeUndefined()
    expect(list.with(40, -1).at(40)).toBe(-1)
    expect(list.at(40)).toBe(40)
    expect(list.slice(size - 40)).toEqual(Array.from({ length: 40 }, (_, i) => size - 40 + i))
    expect(list.slice(-3)).toEqual([size - 3, size - 2, size - 1])
    expect(JSON.parse(JSON.stringify(list))).toHaveLength(size)
  })

  test('is the same list when nothing changes', () => {
    const list = emptyList<string>().push('a')
    expect(list.with(0, 'a')).toBe(list)
    expect(list.with(5, 'b')).toBe(list)
    expect(list.with(-5, 'b')).toBe(list)
    expect(list).toEqual(emptyList<string>().push('b').with(-1, 'a'))
    expect(list).not.toEqual(emptyList<string>().push('b'))
  })
})

/** Two pairs with the same hash, found by search: only such keys meet in one entry's chain. */
const colliding = ['k32728', 'k261234', 'k32018', 'k261324']

describe('persistent map', () => {
  test('does what a Map does, and every old version stays as it was', () => {
    const key = fc.oneof(
      fc.nat({ max: 400 }).map(String),
      fc.constantFrom('__proto__', 'constructor', '', ...colliding),
    )
    const step = fc.record({ key, value: fc.option(fc.nat(), { nil: undefined }) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 1000, size: 'max' }), (steps) => {
        let map = emptyMap<number>()
        const model = new Map<string, number>()
        const versions: [typeof map, Map<string, number>][] = []
        for (const { key, value } of steps) {
          map = value === undefined ? map.delete(key) : map.set(key, value)
          if (value === undefined) model.delete(key)
          else model.set(key, value)
          if (versions.length % 50 === 0) versions.push([map, new Map(model)])
          expect(map.size).toBe(model.size)
        }
        for (const [version, known] of [...versions, [map, model] as const]) {
          expect(new Map(version)).toEqual(known)
          for (const key of known.keys()) expect(version.get(key)).toBe(known.get(key))
        }
      }),
      { numRuns: 25 },
    )
  })

  test('holds keys that hash alike', () => {
    let map = emptyMap<number>()
    for (const [at, key] of colliding.entries()) map = map.set(key, at)
    for (const [at, key] of colliding.entries()) expect(map.get(key)).toBe(at)
    for (const key of colliding) map = map.delete(key)
    expect(map.size).toBe(0)
    expect([...map]).toEqual([])
  })

  test('is the same map when nothing changes', () => {
    const map = emptyMap<number>().set('a', 1)
    expect(map.set('a', 1)).toBe(map)
    expect(map.delete('b')).toBe(map)
    expect(map.has('a')).toBe(true)
    expect(map.has('b')).toBe(false)
  })
})

function changed(items: number[], index: number, value: number): number[] {
  const at = index < 0 ? items.length + index : index
  return at < 0 || at >= items.length ? items : items.with(at, value)
}
