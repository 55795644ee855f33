import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Recorded, RunEvent } from '../event/run-event.ts'
import { transcriptView } from '../view/transcript/index.ts'
import type { Transcript } from '../view/transcript/state.ts'
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
  test('notifies its readers once per turn, and shows nothing new in between', () => {
    const turns: (() => void)[] = []
    const log = liveLog((flush) => turns.push(flush))
    let calls = 0
    const leave = log.subscribe(() => calls++)
    log.append([row(1)])
    log.append([row(2), row(3)])
    expect([calls, log.read(heard), log.lastSeq]).toEqual([0, [], 0])
    expect(turns).toHaveLength(1)
    turns[0]?.()
    expect([calls, log.read(heard), log.lastSeq]).toEqual([1, [1, 2, 3], 3])
    expect(log.read(heard)).toBe(log.read(heard))
    leave()
    log.append([row(4)])
    turns[1]?.()
    expect(calls).toBe(1)
  })

  test('rows that come in steps are folded a part at a time, and shown after the last step', () => {
    const log = liveLog((flush) => flush())
    const folded: number[] = []
    const counting: View<number> = {
      name: 'counting',
      initial: 0,
      apply: (count, { seq }) => {
        folded.push(seq)
        return count + 1
      },
    }
    expect(log.read(counting)).toBe(0)
    const rows = Array.from({ length: 1000 }, (_, i) => row(i + 1))
    const most: number[] = []
    for (const _ of log.appendSteps(rows)) {
      most.push(folded.length - most.reduce((sum, each) => sum + each, 0))
      expect([log.read(counting), log.lastSeq]).toEqual([0, 0])
    }
    expect(most).toEqual([256, 256, 256, 232])
    expect([log.read(counting), log.lastSeq, log.readAt(counting, 300)]).toEqual([1000, 1000, 300])
    // No row was folded twice for it, but for the moment between two kept states.
    expect(folded.length).toBe(1000 + 44)
    expect([...log.appendSteps([])]).toEqual([])
  })

  test('rows that are appended or inserted between two steps are folded as well', () => {
    const log = liveLog((flush) => flush())
    expect(log.read(heard)).toEqual([])
    const steps = log.appendSteps(
      [2, 4, 6].flatMap((tens) => Array.from({ length: 200 }, (_, i) => row(tens * 1000 + i))),
    )
    steps.next()
    log.insert([row(1)])
    steps.next()
    log.append([row(9000)])
    const all = [1, ...[2, 4, 6].flatMap((tens) => Array.from({ length: 200 }, (_, i) => tens * 1000 + i)), 9000]
    expect(log.read(heard)).toEqual(all)
    expect([...steps]).toEqual([])
    expect(log.read(heard)).toEqual(all)
    expect(log.readAt(heard, 4000)).toEqual(all.slice(0, 202))
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

  test('SPEC 5.3: partials that come later are found at their moments, and change nothing after their run', () => {
    const whole = streamed(12, 40)
    const brief = whole.filter(({ event }) => event.kind !== 'agent' || event.event.partial !== true)
    fc.assert(
      fc.property(fc.shuffledSubarray([...Array(12).keys()]), fc.array(fc.nat(whole.length)), (runs, moments) => {
        const log = liveLog((flush) => flush())
        log.append(brief)
        const end = log.read(transcriptView)
        for (const each of runs) {
          log.readAt(transcriptView, moments[each] ?? 1)
          log.insert(whole.filter(({ run }) => run === `r${each}`))
        }
        expect(log.read(transcriptView)).toBe(end)
        const known = whole.filter((row) => brief.includes(row) || runs.some((each) => row.run === `r${each}`))
        expect(log.rows).toEqual(known)
        for (const moment of moments) {
          const expected = fold(
            transcriptView,
            known.filter(({ seq }) => seq <= moment),
          )
          expect(shownOf(log.readAt(transcriptView, moment))).toEqual(shownOf(expected))
        }
      }),
      { numRuns: 40 },
    )
  })

  test('partials of a run that goes on are part of its end', () => {
    const whole = streamed(2, 10).slice(0, -3)
    const log = liveLog((flush) => flush())
    log.append(whole.filter(({ seq }) => seq < 19 || seq > 24))
    log.read(transcriptView)
    log.insert(whole)
    expect(shownOf(log.read(transcriptView))).toEqual(shownOf(fold(transcriptView, whole)))
  })
})

/** The text of each message; the time of its first token is left out, because only its partials have it. */
function shownOf({ settled, open }: Transcript): readonly unknown[] {
  return [...settled, ...open].map((item) => (item.kind === 'message' ? [item.key, item.text, item.status] : item))
}

/** Runs of one agent that streams a text and then sends its aggregate. */
function streamed(runs: number, tokens: number): readonly Recorded[] {
  const rows: Recorded[] = []
  const add = (run: string, event: RunEvent): void =>
    void rows.push({ seq: rows.length + 1, at: rows.length, run, event })
  for (let i = 0; i < runs; i++) {
    const run = `r${i}`
    const say = (text: string, partial: boolean): void =>
      add(run, {
        kind: 'agent',
        message: `m${i}`,
        node: 'a@1',
        event: {
          id: `e${rows.length}`,
          author: 'a',
          invocationId: run,
          timestamp: 1,
          content: { role: 'model', parts: [{ text }] },
          ...(partial ? { partial } : {}),
        },
      })
    add(run, { kind: 'run.started', agent: 'a', input: { messages: [] } })
    add(run, { kind: 'node.started', node: 'a@1', agent: 'a' })
    for (let token = 0; token < tokens; token++) say(`t${token} `, true)
    say(Array.from({ length: tokens }, (_, token) => `t${token} `).join(''), false)
    add(run, { kind: 'node.finished', node: 'a@1', status: 'ok' })
    add(run, { kind: 'run.finished', outcome: 'done' })
  }
  return rows
}
