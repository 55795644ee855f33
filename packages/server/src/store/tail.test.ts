import type { RawRecorded } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { newTails } from './tail.ts'

const raw = (seq: number, text = ''): RawRecorded => ({
  seq,
  at: 0,
  run: '',
  kind: 'other',
  body: JSON.stringify({ kind: 'log', level: 'info', message: text }),
})
const from = (first: number, count: number): RawRecorded[] => Array.from({ length: count }, (_, i) => raw(first + i))
const quiet = (): void => undefined

describe('tails', () => {
  test('returns the rows after a seq, or undefined when it does not hold them all', () => {
    const tails = newTails()
    const tail = tails.subscribe('s', quiet)
    expect(tail.after(0)).toBe(undefined) // before the first row only the file has rows
    tails.publish('s', () => from(11, 3))
    expect(tail.after(9)).toBe(undefined)
    expect(tail.after(10)?.map(({ seq }) => seq)).toEqual([11, 12, 13])
    expect(tail.after(12)?.map(({ seq }) => seq)).toEqual([13])
    expect(tail.after(13)).toEqual([])
    expect(tail.after(99)).toEqual([])
  })
  test('is shared: a row is parsed once for all readers', () => {
    const tails = newTails()
    const [one, two] = [tails.subscribe('s', quiet), tails.subscribe('s', quiet)]
    tails.publish('s', () => from(1, 1))
    expect(one.after(0)?.[0]).toBe(two.after(0)?.[0])
  })
  test('is bounded in rows and in text', () => {
    const tails = newTails()
    const tail = tails.subscribe('s', quiet)
    for (let i = 0; i < 50; i++) tails.publish('s', () => from(1 + i * 100, 100))
    expect(tail.after(0)).toBe(undefined)
    expect(tail.after(4999)?.length).toBe(1)
    tails.publish('s', () => from(5001, 5000)) // more than the limit
    expect(tail.after(5000)).toBe(undefined)
    tails.publish('s', () => [raw(10_001, 'x'.repeat(700_000))])
    tails.publish('s', () => [raw(10_002, 'x'.repeat(700_000))])
    expect(tail.after(10_000)).toBe(undefined)
    expect(tail.after(10_001)?.length).toBe(1)
  })
  test('wakes the readers of its session, and keeps no rows after the last has left', () => {
    const tails = newTails()
    const woken: string[] = []
    const a = tails.subscribe('a', () => woken.push('a'))
    tails.subscribe('b', () => woken.push('b'))
    tails.publish('a', () => from(1, 1))
    expect(woken).toEqual(['a'])
    a.leave()
    tails.publish('a', () => from(2, 1))
    expect(woken).toEqual(['a'])
    expect(tails.subscribe('a', quiet).after(0)).toBe(undefined)
  })
  test('forgets rows after a prune, and an ended tail stays ended', () => {
    const tails = newTails()
    let woken = 0
    const tail = tails.subscribe('s', () => {
      woken += 1
    })
    tails.publish('s', () => from(1, 2))
    tails.forget('s')
    expect(tail.after(0)).toBe(undefined)
    expect(tail.ended()).toBe(false)
    tails.endAll()
    expect([tail.ended(), woken]).toEqual([true, 2])
    expect(tails.subscribe('s', quiet).ended()).toBe(false) // a new session with this id has its own tail
    tail.leave()
  })
})
