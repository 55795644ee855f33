import type { SupportIndex } from '@millrace/core'
import { expect, test } from 'vitest'
import { claimMarks } from './claim-marks.ts'

const nothing = { of: () => [], ofName: () => [] } as unknown as SupportIndex

interface Node {
  type: string
  tagName?: string
  value?: string
  children?: Node[]
}

const textOf = ({ value, children }: Node): string => value ?? (children ?? []).map(textOf).join('')
const all = (node: Node): Node[] => [node, ...(node.children ?? []).flatMap(all)]

test.each([
  ['A salvage of 269 acres (36 CFR 220.6(e)(13)) needs no file.', ['269', '(36 CFR 220.6(e)(13))']],
  ['Repairs come to $401,000, of them (42%, 90%) now: $50,519.', ['$401,000,', '(42%,', '90%)', '$50,519.']],
])('the text stays as it is, and a figure keeps its brackets and stops: %s', (text, kept) => {
  const tree: Node = { type: 'element', tagName: 'p', children: [{ type: 'text', value: text }] }
  claimMarks(nothing)()(tree)
  expect(textOf(tree)).toBe(text)
  const spans = all(tree).filter(({ children }) => children?.some(({ tagName }) => tagName === 'button') === true)
  expect(spans.map(textOf)).toEqual(kept)
})

test('a number in a table is looked up as what its column counts', () => {
  const asked: unknown[] = []
  const of = (figure: unknown): readonly never[] => {
    asked.push(figure)
    return []
  }
  const index = { of, ofName: () => [] } as unknown as SupportIndex
  const cell = (tagName: string, value: string): Node => ({
    type: 'element',
    tagName,
    children: [{ type: 'text', value }],
  })
  const row = (...children: Node[]): Node => ({ type: 'element', tagName: 'tr', children })
  const tree: Node = {
    type: 'element',
    tagName: 'table',
    children: [row(cell('th', 'class'), cell('th', 'sectors')), row(cell('td', 'HIGH'), cell('td', '4'))],
  }
  claimMarks(index)()(tree)
  expect(asked).toMatchObject([{ text: '4', of: 'sector' }])
  expect(JSON.stringify(tree)).toContain('"dataOf":"sector"')
})
