import type { Recorded } from '@millrace/core'
import { expect, test } from 'vitest'
import { HistoryReceiver, HistorySender } from './history-transfer.ts'

const row = (seq: number, run = 'r'): Recorded => ({
  seq,
  at: seq,
  run,
  event: { kind: 'log', level: 'info', message: '' },
})
const rows = (count: number, run?: string): readonly Recorded[] =>
  Array.from({ length: count }, (_, index) => row(index + 1, run))

/** A server and a process that understand each other, and how many rows went over. */
function pair(limit?: number) {
  const sender = new HistorySender(limit)
  const receiver = new HistoryReceiver()
  return (session: string, history: readonly Recorded[]) => {
    const sent = sender.send(session, history)
    return { history: receiver.receive(session, JSON.parse(JSON.stringify(sent))), count: sent.rows.length }
  }
}

test('the next run of a session sends only what is new, and the process has all of it', () => {
  const send = pair()
  expect(send('s', rows(1000))).toEqual({ history: rows(1000), count: 1000 })
  expect(send('s', rows(1010))).toEqual({ history: rows(1010), count: 10 })
  expect(send('s', rows(1010))).toEqual({ history: rows(1010), count: 0 })
})

test('another session of the same name, and one that lost rows, are sent whole', () => {
  const send = pair()
  send('s', rows(10))
  expect(send('s', rows(12, 'other'))).toEqual({ history: rows(12, 'other'), count: 12 })
  const pruned = rows(12, 'other').filter(({ seq }) => seq !== 5)
  expect(send('s', pruned)).toEqual({ history: pruned, count: 11 })
  expect(send('s', [])).toEqual({ history: [], count: 0 })
  expect(send('s', rows(3))).toEqual({ history: rows(3), count: 3 })
})

test('sessions beyond the limit are forgotten on both sides, the oldest first', () => {
  const send = pair(25)
  for (const session of ['a', 'b', 'c']) send(session, rows(10))
  expect(send('c', rows(11)).count).toBe(1)
  expect(send('b', rows(11)).count).toBe(1)
  expect(send('a', rows(11))).toEqual({ history: rows(11), count: 11 })
  expect(send('long', rows(30)).count).toBe(30)
  expect(send('long', rows(31))).toEqual({ history: rows(31), count: 31 })
  expect(send('a', rows(12)).count).toBe(1)
})

test('the process does not keep a session that is longer than the limit', () => {
  const sender = new HistorySender(25)
  sender.send('s', rows(10))
  expect(sender.send('s', rows(30))).toMatchObject({ after: 10, forget: ['s'] })
  expect(new HistorySender(25).send('long', rows(30))).toMatchObject({ after: 0, forget: ['long'] })
})
