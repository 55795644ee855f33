import { describe, expect, test } from 'vitest'
import type { AgentSaid } from '../../event/run-event.ts'
import { type TextPiece, textTurns } from './text-turns.ts'

const said = (message: string, text: string): AgentSaid => ({
  kind: 'agent',
  message,
  event: { id: message, author: 'a', invocationId: 'i', timestamp: 1, content: { parts: [{ text }] } },
})
const texts = (pieces: readonly TextPiece[]): string[] => pieces.map(({ text }) => text)

describe('taking turns', () => {
  test('one message streams, the others wait until it has ended', () => {
    const turns = textTurns()
    expect(texts(turns.partial(said('m1', 'one'), 'a'))).toEqual(['one'])
    expect(turns.partial(said('m2', 'ONE'), 'b')).toEqual([])
    expect(turns.whole(said('m3', 'whole'), 'c')).toEqual([])
    expect(texts(turns.partial(said('m1', ' two'), 'a'))).toEqual([' two'])
    expect(texts(turns.whole(said('m1', 'one two'), 'a'))).toEqual(['ONE'])
    expect(texts(turns.streaming)).toEqual(['ONE'])
    expect(texts(turns.whole(said('m2', 'ONE'), 'b'))).toEqual(['whole'])
    expect(turns.streaming).toEqual([])
  })

  test('a message that was never finished ends as soon as its lane starts another', () => {
    const turns = textTurns()
    turns.partial(said('m1', 'lost'), 'a')
    expect(texts(turns.partial(said('m2', 'next'), 'a'))).toEqual(['next'])
    turns.partial(said('m3', 'beside'), 'b')
    expect(texts(turns.whole(said('m4', 'last'), 'a'))).toEqual(['beside'])
    expect(texts(turns.whole(said('m3', 'beside'), 'b'))).toEqual(['last'])
  })

  test('before a lane does something else, its waiting text is printed', () => {
    const turns = textTurns()
    turns.partial(said('m1', 'front'), 'a')
    turns.whole(said('m2', 'before the call'), 'b')
    turns.partial(said('m3', 'of c'), 'c')
    expect(texts(turns.before('b'))).toEqual(['before the call'])
    expect(texts(turns.end('a'))).toEqual(['of c'])
    expect(turns.end('c')).toEqual([])
  })

  test('text that no longer counts is not printed', () => {
    const turns = textTurns()
    turns.partial(said('m1', 'front'), 'a')
    turns.partial(said('m2', 'lost'), 'b')
    turns.partial(said('m3', 'kept'), 'c')
    expect(texts(turns.drop(['m1', 'm2']))).toEqual(['kept'])
    expect(turns.flush()).toEqual([])
  })
})

describe('the aggregate', () => {
  test('adds only what its partials left out', () => {
    const turns = textTurns()
    turns.partial(said('m', 'Hel'), 'a')
    expect(texts(turns.whole(said('m', 'Hello'), 'a'))).toEqual(['lo'])
    expect(turns.whole(said('m', 'Hello'), 'a')).toEqual([])
    expect(texts(turns.whole(said('m', 'Hello you'), 'a'))).toEqual([' you'])
  })

  test('with another text than its partials adds nothing, because printed text cannot be taken back', () => {
    const turns = textTurns()
    turns.partial(said('m', 'Helo'), 'a')
    expect(turns.whole(said('m', 'Hello, longer'), 'a')).toEqual([])
  })
})
