import { createHash } from 'node:crypto'
import { type EventLog, memoryLog, millrace, type RunEvent } from '@millrace/core'
import { type Sink, streams } from '@millrace/server'
import { expect, test } from 'vitest'
import { full } from '../kit/full.ts'

const readers = full ? 3_000 : 100
const rows = 400
const note = (message: string): RunEvent => ({ kind: 'log', level: 'info', message })

/** A log that counts how many encoders read it at once, and how many there were. */
function counted(log: EventLog) {
  const counts = { open: 0, most: 0, opened: 0 }
  const follow: EventLog['follow'] = async function* (session, options) {
    counts.open += 1
    counts.opened += 1
    counts.most = Math.max(counts.most, counts.open)
    try {
      yield* log.follow(session, options)
    } finally {
      counts.open -= 1
    }
  }
  return { log: { ...log, follow }, counts }
}

/** A connection that takes everything, or, from a number of bytes on, waits until it is drained. */
function connection(room = Number.POSITIVE_INFINITY) {
  const hash = createHash('sha1')
  let most = room
  let taken = 0
  let resume = (): void => {}
  const sink: Sink = {
    chunked: false,
    write: (bytes) => {
      hash.update(bytes)
      taken += bytes.length
      return taken < most
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
    digest: () => hash.copy().digest('hex'),
    drain: () => {
      most = Number.POSITIVE_INFINITY
      resume()
    },
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A long session that a first reader has read to its end, and a way to open more readers. */
async function longSession() {
  const { log, counts } = counted(memoryLog(() => 7))
  await log.create({ id: 's', user: 'u', agent: 'a' })
  for (let i = 0; i < rows; i += 1) await log.append('s', [{ run: '', event: note(`${i} ${'x'.repeat(4000)}`) }])
  const fanOut = streams({ log, dialects: [millrace], retain: 1000, heartbeat: 2 ** 30 })
  const leaves: AbortController[] = []
  const open = (room?: number) => {
    const one = connection(room)
    const leave = new AbortController()
    leaves.push(leave)
    void fanOut.open('s', { dialect: 'millrace', signal: leave.signal }, one.sink)
    return one
  }
  const whole = open()
  while (whole.taken() < rows * 4000) await turn()
  const close = async (): Promise<void> => {
    for (const leave of leaves) leave.abort()
    while (counts.open > 0) await turn()
    expect(fanOut.readers).toBe(0)
    fanOut.close()
  }
  return { open, whole, counts, close }
}

test('readers that come one after the other to a long session share encoders from its first row', async () => {
  const { open, whole, counts, close } = await longSession()
  const late = []
  for (let i = 0; i < readers; i += 1) {
    late.push(open())
    await turn()
  }
  while (late.some((one) => one.taken() < whole.taken())) await turn()
  expect(new Set(late.map((one) => one.digest()))).toEqual(new Set([whole.digest()]))
  expect(counts.most).toBeLessThanOrEqual(20)
  // With an encoder for each reader there would be as many as readers, one after the other.
  expect(counts.opened).toBeLessThan(readers / 2)
  await close()
})

test('readers that stop at different places keep their places and no encoders', async () => {
  const { open, whole, counts, close } = await longSession()
  const late = []
  for (let i = 0; i < 40; i += 1) {
    const room = 70_000 + i * 30_000
    const one = open(room)
    late.push(one)
    while (one.taken() < room) await turn()
  }
  expect(counts.most).toBeLessThanOrEqual(20)
  for (const one of late) one.drain()
  while (late.some((one) => one.taken() < whole.taken())) await turn()
  expect(new Set(late.map((one) => one.digest()))).toEqual(new Set([whole.digest()]))
  await close()
})
