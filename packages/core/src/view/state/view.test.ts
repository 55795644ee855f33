import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chaos, sessions } from '../../../../../test/kit/arbitrary-events.ts'
import { loadViewVectors } from '../../../../../test/kit/vectors.ts'
import type { Recorded } from '../../event/run-event.ts'
import { applyState, patchState } from '../../event/state-fold.ts'
import type { Json, JsonObject } from '../../json/json.ts'
import { describeView, printed, withoutPartials } from '../../testing/index.ts'
import { fold } from '../view.ts'
import { diffState } from './diff.ts'
import { stateAt, stateView, valueHistory } from './index.ts'

const delta = (seq: number, stateDelta: JsonObject): Recorded => ({
  seq,
  at: 1000 * seq,
  run: 'r',
  event: {
    kind: 'agent',
    message: `m${seq}`,
    node: 'writer@1',
    event: { id: `e${seq}`, author: 'writer', invocationId: 'i', timestamp: 0, actions: { stateDelta } },
  },
})
const json = fc.jsonValue({ maxDepth: 3 }).filter((value) => !JSON.stringify(value).includes('__proto__'))
const object = fc.dictionary(
  fc.constantFrom('a', 'b', 'c/d', 'e~f', ''),
  fc.oneof(json, fc.array(json, { maxLength: 3 })),
) as fc.Arbitrary<JsonObject>

describeView({ describe, expect, test }, stateView, loadViewVectors('state'), {
  matches(folded, expected) {
    const at = Object.fromEntries(Object.keys(expected.at ?? {}).map((seq) => [seq, stateAt(folded, Number(seq))]))
    const history = Object.fromEntries(
      Object.keys(expected.history ?? {}).map((path) => [path, valueHistory(folded, path)]),
    )
    const { current, changes } = folded
    expect(current).toEqual(expected.current)
    expect(at).toEqual(expected.at ?? {})
    expect(printed({ changes, history })).toMatchObject({
      changes: expected.changes ?? changes.toArray(),
      history: expected.history ?? {},
    })
  },
})

describe('stateAt', () => {
  test('SPEC 1.3, 5.1: is the fold up to that seq, whatever the log', () => {
    fc.assert(
      fc.property(fc.oneof(chaos(), sessions()), (rows) => {
        const folded = fold(stateView, rows)
        let document: JsonObject = {}
        expect(stateAt(folded, 0)).toEqual({})
        for (const { seq, event } of rows) {
          expect(stateAt(folded, seq - 1)).toEqual(document)
          document = applyState(document, event)
          expect(stateAt(folded, seq)).toEqual(document)
        }
        expect(folded.current).toEqual(document)
        expect(stateAt(folded, Number.MAX_SAFE_INTEGER)).toBe(folded.current)
      }),
      { numRuns: 150 },
    )
  })

  test('finds every version of 1,000 changes, and shares what did not change', () => {
    const big = { deep: [1, 2, 3] }
    const folded = fold(stateView, [
      delta(1, { big }),
      ...Array.from({ length: 999 }, (_, i) => delta(i + 2, { n: i + 2 })),
    ])
    for (const seq of [2, 31, 32, 33, 34, 64, 65, 500, 999, 1000]) {
      expect(stateAt(folded, seq)).toEqual({ big, n: seq })
      expect(stateAt(folded, seq).big).toBe(big)
    }
    expect(folded.past.checkpoints.length).toBe(32)
    expect(JSON.stringify(folded)).not.toContain('checkpoints')
  })

  test('does not depend on whether partials were kept; events of other views leave the same reference', () => {
    fc.assert(
      fc.property(sessions(), (rows) => {
        expect(fold(stateView, withoutPartials(rows))).toEqual(fold(stateView, rows))
        const folded = fold(stateView, rows)
        expect(
          stateView.apply(folded, { seq: 9999, at: 0, run: 'r', event: { kind: 'log', level: 'info', message: '' } }),
        ).toBe(folded)
      }),
      { numRuns: 50 },
    )
  })
})

describe('diffState', () => {
  test('lists exactly the changes from one state to the other', () => {
    fc.assert(
      fc.property(object, object, (before, after) => {
        // Removals of array items from the back, so that indexes stay true while they are applied.
        const differences = diffState(before, after).toSorted((a, b) =>
          a.kind === 'removed' && b.kind === 'removed' ? -1 : a.kind === 'removed' ? 1 : b.kind === 'removed' ? -1 : 0,
        )
        const patch = differences.map(({ path, kind, after: value }) =>
          kind === 'removed'
            ? ({ op: 'remove', path } as const)
            : ({ op: kind === 'added' ? 'add' : 'replace', path, value: value as Json } as const),
        )
        expect(patchState(before, patch)).toEqual(after)
        expect(diffState(before, structuredClone(before))).toEqual([])
      }),
    )
  })

  test('names added, changed and removed with their old and new values', () => {
    expect(
      diffState({ a: 1, b: { c: [1, 2], d: 'x' }, 'e/~': true }, { b: { c: [1, 3, 4], d: 'x' }, f: null, 'e/~': {} }),
    ).toEqual([
      { path: '/a', kind: 'removed', before: 1 },
      { path: '/b/c/1', kind: 'changed', before: 2, after: 3 },
      { path: '/b/c/2', kind: 'added', after: 4 },
      { path: '/e~1~0', kind: 'changed', before: true, after: {} },
      { path: '/f', kind: 'added', after: null },
    ])
    expect(diffState({ a: [] }, { a: {} })).toEqual([{ path: '/a', kind: 'changed', before: [], after: {} }])
  })

  test('takes more items than a call takes arguments', () => {
    const wide = (leaf: Json): JsonObject => ({ items: new Array<Json>(200_000).fill(leaf) })
    expect(diffState(wide(1), wide(2))).toHaveLength(200_000)
  })

  test('walks 20,000 levels', () => {
    const deep = (leaf: Json): JsonObject => {
      let value: Json = leaf
      for (let i = 0; i < 20_000; i++) value = { a: value }
      return value as JsonObject
    }
    expect(diffState(deep(1), deep(2)).map(({ kind, before, after }) => [kind, before, after])).toEqual([
      ['changed', 1, 2],
    ])
  })
})

describe('valueHistory', () => {
  test('lists each change of one value, at any depth, and skips equal values', () => {
    const folded = fold(stateView, [
      delta(1, { a: { b: 1 } }),
      delta(2, { a: { b: 1 }, z: 0 }),
      delta(3, { z: 1 }),
      delta(4, { a: { b: 2 } }),
      { seq: 5, at: 5000, run: '', event: { kind: 'state', patch: [{ op: 'remove', path: '/a/b' }] } },
    ])
    expect(valueHistory(folded, '/a/b')).toEqual([
      { seq: 1, at: 1000, run: 'r', node: 'writer@1', author: 'writer', after: 1 },
      { seq: 4, at: 4000, run: 'r', node: 'writer@1', author: 'writer', before: 1, after: 2 },
      { seq: 5, at: 5000, run: '', before: 2 },
    ])
    expect(valueHistory(folded, '/nothing')).toEqual([])
    expect(valueHistory(folded, '').length).toBe(5)
  })
})
