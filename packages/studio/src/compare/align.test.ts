import type { Message } from '@millrace/core'
import { expect, test } from 'vitest'
import { align } from './align.ts'

const said = (author: string, text: string): Message => ({
  kind: 'message',
  key: `${author}/${text}`,
  run: 'r',
  seq: 1,
  at: 0,
  id: text,
  author,
  role: author === 'user' ? 'user' : 'assistant',
  text,
  thoughts: '',
  parts: [{ kind: 'text', text }],
  status: 'done',
  whole: 1,
})
const kinds = (a: readonly Message[], b: readonly Message[]): readonly string[] => align(a, b).map(({ kind }) => kind)

test('equal conversations have no difference', () => {
  const words = [said('user', 'hi'), said('a', 'hello')]
  expect(kinds(words, words)).toEqual(['same', 'same'])
})

test('a different text by the same author is a change', () => {
  expect(kinds([said('user', 'hi'), said('a', 'hello')], [said('user', 'hi'), said('a', 'good day')])).toEqual([
    'same',
    'changed',
  ])
})

test('an author who is only on one side does not shift the others', () => {
  const left = [said('user', 'hi'), said('planner', 'plan'), said('a', 'hello')]
  const right = [said('user', 'hi'), said('a', 'hello'), said('critic', 'well')]
  expect(kinds(left, right)).toEqual(['same', 'left', 'same', 'right'])
})

test('no message is lost, whatever the order', () => {
  const left = [said('a', '1'), said('b', '2'), said('a', '3')]
  const right = [said('b', '1'), said('a', '2'), said('b', '3'), said('b', '4')]
  const pairs = align(left, right)
  expect(pairs.flatMap((pair) => pair.left ?? [])).toEqual(left)
  expect(pairs.flatMap((pair) => pair.right ?? [])).toEqual(right)
})

test('two long sessions that differ at their end are paired without a search through all of them', () => {
  const before = Array.from({ length: 20_000 }, (_, i) => said(i % 2 === 0 ? 'user' : 'a', `${i}`))
  const pairs = align([...before, said('b', 'old')], [...before, said('c', 'new'), said('b', 'old')])
  expect(pairs.slice(-3).map(({ kind }) => kind)).toEqual(['same', 'right', 'same'])
})
