import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chaos, sessions } from '../../../../../test/kit/arbitrary-events.ts'
import { loadViewVectors } from '../../../../../test/kit/vectors.ts'
import type { RunEvent } from '../../event/run-event.ts'
import type { Json } from '../../json/json.ts'
import { describeView, printed, withoutPartials } from '../../testing/index.ts'
import { timelineView } from '../timeline/index.ts'
import { fold } from '../view.ts'
import { activeNodes, flowView, stateKeys } from './index.ts'
import { preview } from './preview.ts'

describeView({ describe, expect, test }, flowView, loadViewVectors('flow'), {
  matches(graph, { stateKeys: keys, ...rest }) {
    expect(printed(graph)).toMatchObject(rest)
    expect(Object.fromEntries(stateKeys(graph))).toEqual(keys)
    expect(stateKeys(graph)).toBe(stateKeys(graph))
  },
})

describe('properties', () => {
  test('SPEC 5.3: the result does not depend on whether partials were kept', () => {
    fc.assert(
      fc.property(sessions(), (rows) => {
        expect(fold(flowView, withoutPartials(rows))).toEqual(fold(flowView, rows))
      }),
      { numRuns: 200 },
    )
  })

  test('nodes count their executions, edges join nodes that are there, and carry only keys that were written', () => {
    fc.assert(
      fc.property(fc.oneof(sessions(), chaos()), (rows) => {
        const graph = fold(flowView, rows)
        const ran = fold(timelineView, rows)
          .executions.toArray()
          .filter(({ superseded }) => superseded !== true)
        const nodes = new Map(graph.nodes.toArray().map((node) => [node.id, node]))
        expect(nodes.size).toBe(graph.nodes.length)
        for (const { id, executions, running } of nodes.values()) {
          if (id === 'START' || id === 'END') continue
          expect(executions).toBe(ran.filter(({ path }) => path === id).length)
          expect(running).toBe(ran.filter(({ path, endSeq }) => path === id && endSeq === undefined).length)
        }
        const pairs = new Set<string>()
        for (const { from, to, keys, count } of graph.edges) {
          expect(nodes.has(from) && nodes.has(to)).toBe(true)
          expect(pairs.has(`${from}\n${to}`)).toBe(false)
          pairs.add(`${from}\n${to}`)
          expect(count).toBeGreaterThanOrEqual(0)
          const written = new Set(ran.filter(({ path }) => path === from).flatMap(({ wrote }) => [...wrote]))
          if (from !== 'START') for (const { key } of keys) expect(written.has(key)).toBe(true)
        }
      }),
      { numRuns: 200 },
    )
  })
})

test('nodes light up while they run, and before that when their first words stream', () => {
  const rows = (events: readonly RunEvent[]) => events.map((event, i) => ({ seq: i + 1, at: i, run: 'r', event }))
  const token: RunEvent = {
    kind: 'agent',
    message: 'm',
    event: {
      id: 'e',
      author: 'b',
      invocationId: 'i',
      timestamp: 0,
      partial: true,
      branch: 'team.b',
      content: { parts: [{ text: 'x' }] },
    },
  }
  const start: RunEvent = { kind: 'run.started', agent: 'a', input: { messages: [] } }
  expect(activeNodes(fold(flowView, rows([start, token])))).toEqual(['team/b'])
  const node: RunEvent = { kind: 'node.started', node: 'a@1', agent: 'a' }
  expect(activeNodes(fold(flowView, rows([start, node])))).toEqual(['a'])
  expect(
    activeNodes(fold(flowView, rows([start, node, { kind: 'node.finished', node: 'a@1', status: 'ok' }]))),
  ).toEqual([])
})

test('events of other views leave the same reference', () => {
  const before = flowView.initial
  const event: RunEvent = { kind: 'log', level: 'info', message: '' }
  expect(flowView.apply(before, { seq: 1, at: 1, run: 'r', event })).toBe(before)
})

describe('preview', () => {
  test.each<[Json, string]>([
    ['short', '"short"'],
    [null, 'null'],
    [[1, 'a', true], '[1, "a", true]'],
    [{ a: 1, b: { c: [{ d: 1 }] } }, '{a: 1, b: {c: [{…}]}}'],
    [{}, '{}'],
    ['x'.repeat(100), `"${'x'.repeat(38)}…`],
    [Array.from({ length: 1000 }, (_, i) => i), '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …'],
  ])('%j', (value, expected) => expect(preview(value)).toBe(expected))

  test('reads no more of a huge or deep value than it prints', () => {
    let deep: Json = 1
    for (let i = 0; i < 20_000; i++) deep = { deep }
    expect(preview(deep)).toBe('{deep: {deep: {deep: {…}}}}')
    expect(preview('y'.repeat(10_000_000), 10)).toBe('"yyyyyyyy…')
  })
})
