import type { Block, Item } from '@millrace/core'
import { expect, test } from 'vitest'
import { matchesIn, placesOf, sameLength } from './find-matches.ts'

const row = (key: string, item: object): Block => ({ kind: 'item', key, item: item as Item })
const said = (key: string, ...parts: readonly object[]): Block =>
  row(key, { kind: 'message', role: 'agent', parts, text: '', key })
const keys = (blocks: readonly Block[], text: string): readonly string[] =>
  matchesIn(blocks, text).map(({ key, nth }) => `${key}${nth}`)

test('folding keeps the length, so that a place in one text is the same place in the other', () => {
  for (const text of ['Zürich', 'ﬁne İstanbul', 'ß😀é', 'plain'])
    expect(sameLength(text).length, text).toBe(text.length)
  expect(sameLength('ZÜRICH é')).toBe('zurich e')
})

test('places do not overlap, and no text has no place', () => {
  expect(placesOf('aaaa', 'aa')).toEqual([0, 2])
  expect(placesOf('aaaa', '')).toEqual([])
})

test('text, thoughts, tools with their arguments and results, and lanes are searched', () => {
  const blocks: readonly Block[] = [
    said('a', { kind: 'text', text: 'The **har**bour and the HARBOUR' }),
    said('b', { kind: 'tool', name: 'get_harbour', args: { city: 'Lisbon' }, result: { depth: 'harbour' } }),
    said(
      'c',
      { kind: 'thought', text: 'harbour?' },
      { kind: 'code', code: 'x' },
      { kind: 'file', name: 'harbour.txt' },
    ),
    {
      kind: 'lanes',
      key: 'd',
      lanes: [{ key: 'l', agent: 'x', items: [{ kind: 'log', level: 'info', message: 'Harbour' } as Item] }],
    },
    row('e', { kind: 'end', outcome: 'failed', error: { message: 'no harbour' } }),
    row('f', { kind: 'interrupt', message: 'Enter the harbour?' }),
    row('g', { kind: 'start' }),
    row('h', { kind: 'artifact', name: 'harbour.md' }),
    row('i', { kind: 'artifact', name: 'harbour.md', superseded: true }),
  ]
  expect(keys(blocks, 'harbour')).toEqual(['a0', 'a1', 'b0', 'b1', 'c0', 'c1', 'd0', 'e0', 'f0', 'h0'])
  expect(keys(blocks, 'lisbon')).toEqual(['b0'])
  expect(keys(blocks, '  ')).toEqual([])
})
