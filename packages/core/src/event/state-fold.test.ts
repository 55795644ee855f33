import fc from 'fast-check'
import jsonPatch from 'fast-json-patch'
import { describe, expect, test } from 'vitest'
import type { Json, JsonObject, PatchOp } from '../json/json.ts'
import type { AdkEvent } from './adk-event.ts'
import type { RunEvent } from './run-event.ts'
import { applyState, patchState, type StateProblem } from './state-fold.ts'

const said = (event: Partial<AdkEvent>): RunEvent => ({
  kind: 'agent',
  message: 'm',
  event: { id: 'm', author: 'a', invocationId: 'i', timestamp: 1, ...event },
})
const patch = (...ops: PatchOp[]): RunEvent => ({ kind: 'state', patch: ops })

/** Applies a patch and returns what was reported; fails if the state before was changed. */
function applied(state: JsonObject, event: RunEvent): { state: JsonObject; problems: StateProblem[] } {
  const before = structuredClone(state)
  const problems: StateProblem[] = []
  const next = applyState(state, event, (problem) => problems.push(problem))
  expect(state).toEqual(before)
  return { state: next, problems }
}

describe('state deltas', () => {
  test('a delta replaces top-level keys; null is a value', () => {
    const start = { a: { x: 1 }, b: 2 }
    expect(applied(start, said({ actions: { stateDelta: { a: { y: 1 }, b: null, c: 3 } } })).state).toEqual({
      a: { y: 1 },
      b: null,
      c: 3,
    })
  })
  test('partials and temp: keys do not count, as in ADK', () => {
    const start = { a: 1 }
    expect(applyState(start, said({ partial: true, actions: { stateDelta: { a: 2 } } }))).toBe(start)
    expect(applyState(start, said({ actions: { stateDelta: { 'temp:a': 2 } } }))).toBe(start)
  })
  test('the same reference when nothing changed', () => {
    const start = { a: { x: 1 } }
    expect(applyState(start, said({ actions: { stateDelta: { a: start.a } } }))).toBe(start)
    expect(applyState(start, said({}))).toBe(start)
    expect(applyState(start, { kind: 'log', level: 'info', message: '' })).toBe(start)
    expect(applyState(start, patch({ op: 'test', path: '/a/x', value: 1 }))).toBe(start)
    expect(applyState(start, patch({ op: 'move', from: '/a', path: '/a' }))).toBe(start)
  })
  test('client state merges at the start of a run', () => {
    const event: RunEvent = { kind: 'run.started', agent: 'a', input: { messages: [], state: { b: 2 } } }
    expect(applied({ a: 1 }, event).state).toEqual({ a: 1, b: 2 })
  })
  test('a key named __proto__ is data', () => {
    const delta = JSON.parse('{"__proto__":{"polluted":true}}')
    const { state } = applied({}, said({ actions: { stateDelta: delta } }))
    expect(Object.keys(state)).toEqual(['__proto__'])
    expect('polluted' in {}).toBe(false)
  })
})

describe('SPEC 1.7: patches that grow without bound', () => {
  /** Many patches of one operation each; which was the first that was refused, and why. */
  const grow = (start: JsonObject, op: (index: number) => PatchOp, count: number) => {
    let state = start
    const refused: { readonly index: number; readonly reason: string }[] = []
    for (let index = 0; index < count; index++) {
      state = applyState(state, patch(op(index)), ({ reason }) => refused.push({ index, reason }))
    }
    return { state, refused }
  }

  test('a list copied into itself forty times', () => {
    const op: PatchOp = { op: 'copy', from: '/a', path: '/a/-' }
    const { state, refused } = grow({ a: ['x'.repeat(1000)] }, () => op, 40)
    expect(refused[0]).toEqual({ index: 14, reason: 'the state grows too large' })
    expect(JSON.stringify(state).length).toBeLessThan(17 * 1024 * 1024)
    // In one patch it is all or nothing.
    const start = { a: [1] }
    expect(applied(start, patch(...Array.from({ length: 40 }, () => op))).problems).toHaveLength(1)
    expect(applyState(start, patch(...Array.from({ length: 40 }, () => op)))).toBe(start)
  })

  test('the state copied into itself, or a level added, ten thousand times', () => {
    const copies = grow({ a: 1 }, () => ({ op: 'copy', from: '', path: '/b' }), 10_000)
    expect(copies.refused[0]?.reason).toBe('nested deeper than 512')
    const levels = grow({}, (index) => ({ op: 'add', path: '/a'.repeat(index + 1), value: {} }), 1000)
    expect(levels.refused[0]).toEqual({ index: 511, reason: 'nested deeper than 512' })
    for (const { state } of [copies, levels]) expect(JSON.stringify(state).length).toBeLessThan(10_000)
  })

  test('a value of the greatest depth fits, and one level more does not', () => {
    const deep = (depth: number): Json => JSON.parse('['.repeat(depth) + ']'.repeat(depth))
    expect(applied({}, patch({ op: 'add', path: '/a', value: deep(511) })).problems).toEqual([])
    expect(applied({}, patch({ op: 'add', path: '/a', value: deep(512) })).problems).toHaveLength(1)
    expect(applied({ a: {} }, patch({ op: 'move', from: '/a', path: '/b' })).problems).toEqual([])
  })
})

describe('patches', () => {
  test('what is not on the path is shared', () => {
    const start = { a: { x: [1] }, b: { y: 1 } }
    const { state } = applied(start, patch({ op: 'add', path: '/a/x/-', value: 2 }))
    expect(state).toEqual({ a: { x: [1, 2] }, b: { y: 1 } })
    expect(state.b).toBe(start.b)
  })
  test('a value put in by one operation is not changed by the next', () => {
    const value = { n: 1 }
    const event = patch({ op: 'add', path: '/a', value }, { op: 'replace', path: '/a/n', value: 2 })
    expect(applied({}, event).state).toEqual({ a: { n: 2 } })
    expect(value).toEqual({ n: 1 })
  })
  test('move and copy', () => {
    const event = patch({ op: 'copy', from: '/a', path: '/b' }, { op: 'move', from: '/a/n', path: '/c' })
    expect(applied({ a: { n: 1 } }, event).state).toEqual({ a: {}, b: { n: 1 }, c: 1 })
  })
  test('a copy into itself is a copy, not a circle', () => {
    const event = patch({ op: 'remove', path: '/a/a' }, { op: 'copy', from: '/a', path: '/a/a' })
    expect(applied({ a: { a: 1 } }, event).state).toEqual({ a: { a: {} } })
  })
  test('the root can be replaced by an object or removed, nothing else', () => {
    expect(applied({ a: 1 }, patch({ op: 'replace', path: '', value: { b: 2 } })).state).toEqual({ b: 2 })
    expect(applied({ a: 1 }, patch({ op: 'remove', path: '' })).state).toEqual({})
    const { state, problems } = applied({ a: 1 }, patch({ op: 'replace', path: '', value: [1] }))
    expect(state).toEqual({ a: 1 })
    expect(problems).toEqual([{ op: 0, path: '', reason: 'the state must be an object' }])
  })
  test.each<[string, PatchOp[], number]>([
    ['a missing parent', [{ op: 'add', path: '/a/b/c', value: 1 }], 0],
    ['removing what is not there', [{ op: 'remove', path: '/x' }], 0],
    ['replacing what is not there', [{ op: 'replace', path: '/x', value: 1 }], 0],
    ['a failed test', [{ op: 'test', path: '/n', value: 2 }], 0],
    ['copying what is not there', [{ op: 'copy', from: '/x', path: '/y' }], 0],
    ['moving into itself', [{ op: 'move', from: '/o', path: '/o/p' }], 0],
    ['an index out of bounds', [{ op: 'add', path: '/list/9', value: 1 }], 0],
    ['a path without a slash', [{ op: 'add', path: 'n', value: 1 }], 0],
    ['the prototype', [{ op: 'add', path: '/__proto__/polluted', value: 1 }], 0],
    ['an inherited name', [{ op: 'add', path: '/constructor/prototype/polluted', value: 1 }], 0],
    [
      'the second of two',
      [
        { op: 'add', path: '/x', value: 1 },
        { op: 'remove', path: '/y' },
      ],
      1,
    ],
  ])('%s refuses the whole patch and says so', (_, ops, at) => {
    const start = { n: 1, o: {}, list: [1] }
    const { state, problems } = applied(start, patch(...ops))
    expect(state).toBe(start)
    expect(problems).toHaveLength(1)
    expect(problems[0]?.op).toBe(at)
    expect(problems[0]?.reason).toMatch(/\S/)
    expect('polluted' in {}).toBe(false)
  })
  test('a value nested 20,000 deep is reported, not thrown', () => {
    const value = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`)
    const problems: StateProblem[] = []
    const state = patchState({}, [{ op: 'add', path: '/a', value }], (problem) => problems.push(problem))
    expect(state.a === value || problems.length === 1).toBe(true)
  })
})

test('random patches give what fast-json-patch gives on a copy of its own', () => {
  const keys = fc.constantFrom('a', 'b', '0', '1', '-')
  const path = fc.array(keys, { minLength: 1, maxLength: 3 }).map((parts) => `/${parts.join('/')}`)
  const value = fc.constantFrom(1, 'x', null, {}, { a: 1 }, [1, 2])
  const op = fc.oneof(
    fc.record({ op: fc.constantFrom('add', 'replace', 'test'), path, value }),
    fc.record({ op: fc.constant('remove'), path }),
    fc.record({ op: fc.constantFrom('move', 'copy'), path, from: path }),
  ) as fc.Arbitrary<PatchOp>
  fc.assert(
    fc.property(fc.array(op, { maxLength: 5 }), (ops) => {
      const start: JsonObject = { a: { a: [1, { b: 2 }] }, b: [0] }
      const problems: StateProblem[] = []
      const frozen = freeze(structuredClone(start))
      const ours = patchState(frozen, ops, (problem) => problems.push(problem))
      let theirs: JsonObject | undefined
      try {
        theirs = ops.reduce((document, op) => byLibrary(document, op), structuredClone(start))
      } catch {
        theirs = undefined
      }
      expect(problems.length === 0).toBe(theirs !== undefined)
      if (theirs === undefined) expect(ours).toBe(frozen)
      else expect(ours).toEqual(theirs)
    }),
    { numRuns: 2000 },
  )
})

/** The library checks the target of a move before it removes; RFC 6902 4.4 has it as a remove, then an add. */
function byLibrary(document: JsonObject, op: PatchOp): JsonObject {
  if (op.op !== 'move' || op.path === op.from || op.path.startsWith(`${op.from}/`)) {
    return jsonPatch.applyPatch(document, structuredClone([op]), true).newDocument
  }
  const value = jsonPatch.getValueByPointer(document, op.from)
  const steps: PatchOp[] = [
    { op: 'remove', path: op.from },
    { op: 'add', path: op.path, value },
  ]
  return jsonPatch.applyPatch(document, structuredClone(steps), true).newDocument
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const child of Object.values(value)) freeze(child)
    Object.freeze(value)
  }
  return value
}
