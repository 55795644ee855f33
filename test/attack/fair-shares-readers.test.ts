import { type EventLog, memoryLog, millrace, type RunEvent } from '@millrace/core'
import { type Sink, streams } from '@millrace/server'
import { expect, test } from 'vitest'
import { full } from '../kit/full.ts'

const readers = full ? 3_000 : 300
const rows = 400
const note = (message: string): RunEvent => ({ kind: 'log', level: 'info', message })

/** A log that counts how many encoders read it at once, and how many have read it in all. */
function counted(log: EventLog) {
  const counts = { open: 0, most: 0, all: 0 }
  const follow: EventLog['follow'] = async function* (session, options) {
    counts.open += 1
    counts.all += 1
    counts.most = Math.max(counts.most, counts.open)
    try {
      yield* log.follow(session, options)
    } finally {
      counts.open -= 1
    }
  }
  return { log: { ...log, follow }, counts }
}

/** A connection that takes `room` bytes, and the rest once it is drained. */
function connection(room: number) {
  let taken = ''
  let isFull = false
  let resume = (): void => {}
  const sink: Sink = {
    chunked: false,
    write: (bytes) => {
      taken += bytes.toString()
      isFull = taken.length >= room
      return !isFull
    },
    onDrain: (drained) => {
      resume = drained
    },
    end: () => undefined,
    destroy: () => undefined,
  }
  return {
    sink,
    taken: () => taken,
    isFull: () => isFull,
    drain: () => {
      room = Number.POSITIVE_INFINITY
      resume()
    },
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('late readers of a long session share encoders, however many places they have stopped at', async () => {
  const { log, counts } = counted(memoryLog(() => 7))
  await log.create({ id: 's', user: 'u', agent: 'a' })
  for (let i = 0; i < rows; i += 1) await log.append('s', [{ run: '', event: note(`${i} ${'x'.repeat(4000)}`) }])
  const fanOut = streams({ log, dialects: [millrace], retain: 1000, ahead: 1000 })
  const leaves: AbortController[] = []
  const open = (room: number) => {
    const one = connection(room)
    const leave = new AbortController()
    leaves.push(leave)
    void fanOut.open('s', { dialect: 'millrace', signal: leave.signal }, one.sink)
    return one
  }
  const whole = open(Number.POSITIVE_INFINITY)
  const lastRow = `id: ${rows}\n`
  while (!whole.taken().includes(lastRow)) await turn()

  // Each comes when the ones before it have passed the beginning, and stops at a place of its own.
  const late = []
  for (let i = 0; i < readers; i += 1) {
    const one = open(10_000 + i * 400)
    late.push(one)
    while (!one.isFull()) await turn()
  }
  expect(counts.most).toBeLessThanOrEqual(20)
  for (const one of late) one.drain()
  while (late.some((one) => !one.taken().includes(lastRow))) await turn()
  expect(new Set(late.map((one) => one.taken()))).toEqual(new Set([whole.taken()]))
  expect(counts.most).toBeLessThanOrEqual(20)
  for (const leave of leaves) leave.abort()
  while (counts.open > 0) await turn()
  expect(fanOut.readers).toBe(0)
  fanOut.close()
})
