import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Recorded } from '../event/run-event.ts'
import { fold, type View } from '../view/view.ts'
import { liveLog } from './live-log.ts'

const heard: View<readonly number[]> = {
  name: 'heard',
  initial: [],
  apply: (state, { seq, event }) => (event.kind === 'log' ? [...state, seq] : state),
}
const row = (seq: number): Recorded => ({
  seq,
  at: seq,
  run: 'r',
  event: { kind: 'log', level: 'info', message: `${seq}` },
})

describe('a live log', () => {
  test('tells its readers once per turn, and shows nothing new in between', () => {
    const turns: (() => void)[] = []
    const log = liveLog((flush) => turns.push(flush))
    let told = 0
    const leave = log.subscribe(() => told++)
    log.append([row(1)])
    log.append([row(2), row(3)])
    expect([told, log.read(heard), log.lastSeq]).toEqual([0, [], 0])
    expect(turns).toHaveLength(1)
    turns[0]?.()
    expect([told, log.read(heard), log.lastSeq]).toEqual([1, [1, 2, 3], 3])
    expect(log.read(heard)).toBe(log.read(heard))
    leave()
    log.append([row(4)])
    turns[1]?.()
    expect(told).toBe(1)
  })

  test('SPEC 5.1: a view at any moment is what folding from the start gives', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 900 }),
        fc.array(fc.nat({ max: 4000 }), { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 1, max: 300 }),
        (gaps, moments, batch) => {
          let seq = 0
          const rows = gaps.map((gap) => {
            seq += gap
            return row(seq)
          })
          const log = liveLog((flush) => flush())
          for (let at = 0; at < rows.length; at += batch) log.append(rows.slice(at, at + batch))
          for (const moment of moments) {
            const expected = fold(
              heard,
              rows.filter((each) => each.seq <= moment),
            )
            expect(log.readAt(heard, moment)).toEqual(expected)
          }
          expect(log.read(heard)).toEqual(fold(heard, rows))
        },
      ),
      { numRuns: 60 },
    )
  })

  test('stepping forward folds one row, jumping folds no more than the spacing', () => {
    let applied = 0
    const counting: View<number> = {
      name: 'counting',
      initial: 0,
      apply(state) {
        applied += 1
        return state + 1
      },
    }
    const log = liveLog((flush) => flush())
    log.append(Array.from({ length: 5000 }, (_, i) => row(i + 1)))
    log.read(counting)
    applied = 0
    expect(log.readAt(counting, 4000)).toBe(4000)
    expect(applied).toBeLessThanOrEqual(256)
    applied = 0
    expect(log.readAt(counting, 4001)).toBe(4001)
    expect(applied).toBe(1)
  })
})
