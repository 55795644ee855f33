import { describe, expect, test } from 'vitest'
import type { AdkEvent } from '../../event/adk-event.ts'
import type { Recorded, RunEvent } from '../../event/run-event.ts'
import { fold } from '../view.ts'
import { blocks, transcriptView } from './index.ts'
import type { Item } from './item.ts'
import type { Transcript } from './state.ts'

const rowsOf = (events: readonly RunEvent[]): readonly Recorded[] =>
  events.map((event, i) => ({ seq: i + 1, at: 10 * i, run: 'r', event }))
const said = (text: string, more: Partial<AdkEvent> = {}, node?: string): RunEvent => ({
  kind: 'agent',
  message: text,
  event: { id: text, author: 'writer', invocationId: 'i', timestamp: 0, content: { parts: [{ text }] }, ...more },
  ...(node === undefined ? {} : { node }),
})

describe('blocks', () => {
  const node = (name: string, agent: string, parent?: string): RunEvent => ({
    kind: 'node.started',
    node: name,
    agent,
    ...(parent === undefined ? {} : { parent }),
  })
  const end = (name: string): RunEvent => ({ kind: 'node.finished', node: name, status: 'ok' })
  const shape = (state: Transcript): unknown =>
    blocks(state).map((block) =>
      block.kind === 'item' ? nameOf(block.item) : block.lanes.map(({ agent, items }) => [agent, ...items.map(nameOf)]),
    )
  const nameOf = (item: Item): string => (item.kind === 'message' ? item.text : item.kind)
  const says = (text: string, on?: string): RunEvent => said(text, {}, on)

  test('nodes that overlap are side by side, with their children; later ones are not', () => {
    const state = fold(
      transcriptView,
      rowsOf([
        node('lead@1', 'lead'),
        says('hello', 'lead@1'),
        node('lead/a@1', 'a', 'lead@1'),
        says('a1', 'lead/a@1'),
        node('lead/b@1', 'b', 'lead@1'),
        says('b1', 'lead/b@1'),
        node('lead/a/x@1', 'x', 'lead/a@1'),
        says('x1', 'lead/a/x@1'),
        says('a2', 'lead/a@1'),
        end('lead/a@1'),
        end('lead/b@1'),
        node('lead/c@1', 'c', 'lead@1'),
        says('c1', 'lead/c@1'),
        says('bye', 'lead@1'),
      ]),
    )
    expect(shape(state)).toEqual([
      'hello',
      [
        ['a', 'a1', 'x1', 'a2'],
        ['b', 'b1'],
      ],
      'c1',
      'bye',
    ])
    expect(blocks(state)[0]).toBe(blocks(state)[0])
  })

  test('in a log without nodes, sibling branches are side by side', () => {
    const branch = (text: string, name: string): RunEvent => said(text, { branch: name })
    const state = fold(
      transcriptView,
      rowsOf([
        says('hello'),
        branch('r1', 'fan.r1'),
        branch('r2', 'fan.r2@1'),
        branch('r1b', 'fan.r1.sub'),
        says('bye'),
      ]),
    )
    expect(shape(state)).toEqual([
      'hello',
      [
        ['r1', 'r1', 'r1b'],
        ['r2', 'r2'],
      ],
      'bye',
    ])
  })

  test('one lane alone makes no block of lanes, and a node that is its own parent causes no endless loop', () => {
    const state = fold(
      transcriptView,
      rowsOf([node('a@1', 'a', 'a@1'), says('x', 'a@1'), said('y', { branch: 'f.r' })]),
    )
    expect(shape(state)).toEqual(['x', 'y'])
  })
})
