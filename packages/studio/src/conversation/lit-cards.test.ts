import type { Block, Item } from '@millrace/core'
import { expect, test } from 'vitest'
import { litCards } from './lit-cards.ts'

const said = (endSeq: number, ...calls: readonly string[]): Item =>
  ({
    kind: 'message',
    role: 'agent',
    endSeq,
    text: 'Said',
    parts: [{ kind: 'text', text: 'Said' }, ...calls.map((call) => ({ kind: 'tool', name: 'measure', call }))],
  }) as unknown as Item
const blocks: readonly Block[] = [
  { kind: 'item', key: 'a', item: { kind: 'message', role: 'user', endSeq: 1, parts: [] } as unknown as Item },
  { kind: 'item', key: 'b', item: said(5, 'c1', 'c2', 'c3') },
  {
    kind: 'lanes',
    key: 'c',
    lanes: [said(7), said(9, 'c4')].map((item, i) => ({ key: `${i}`, agent: 'x', items: [item] })),
  },
]

test('a lit call is its card; a message without one is itself; the words of the person are no card', () => {
  const found = litCards(blocks, new Set(['c1', 'c3', 'c4']), new Set([1, 5, 7, 9]))
  expect(found.map(({ key, index, nth, id }) => `${key} ${index} ${nth} ${id}`)).toEqual([
    'b 1 0 c1',
    'b 1 1 c3',
    'c 2 0 7',
    'c 2 1 c4',
  ])
})

test('where nothing is chosen, nothing is lit', () => {
  expect(litCards(blocks, new Set(['c1']), new Set())).toEqual([])
})
