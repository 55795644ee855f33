import { expect, test } from 'vitest'
import type { Recorded } from '../event/run-event.ts'
import { followRows } from './follow.ts'

const row = (seq: number): Recorded => ({ seq, at: 0, run: '', event: { kind: 'log', level: 'info', message: '' } })

/** A source whose reads wait until they are let go. */
function slowSource() {
  const rows: Recorded[] = []
  const wakes = new Set<() => void>()
  let reads: (() => void)[] = []
  return {
    wakes,
    add: (seq: number) => {
      rows.push(row(seq))
      for (const wake of wakes) wake()
    },
    letRead: () => {
      for (const go of reads) go()
      reads = []
    },
    ended: () => false,
    next: (after: number) => {
      const found = rows.filter(({ seq }) => seq > after)
      return new Promise<readonly Recorded[]>((resolve) => reads.push(() => resolve(found)))
    },
    subscribe: (wake: () => void) => {
      wakes.add(wake)
      return () => wakes.delete(wake)
    },
  }
}

test('a commit that comes while a read is under way is not missed', async () => {
  const source = slowSource()
  const reader = followRows(() => source, 0, new AbortController().signal)[Symbol.asyncIterator]()
  const first = reader.next()
  source.add(1) // the read has begun and will find nothing
  source.letRead()
  await Promise.resolve()
  for (let turn = 0; turn < 10; turn++) {
    await Promise.resolve()
    source.letRead()
  }
  expect((await first).value).toEqual([row(1)])
})

test('however it ends, it unsubscribes', async () => {
  const source = slowSource()
  const stop = new AbortController()
  const reader = followRows(() => source, 0, stop.signal)[Symbol.asyncIterator]()
  const pending = reader.next()
  expect(source.wakes.size).toBe(1)
  stop.abort()
  source.letRead()
  expect((await pending).done).toBe(true)
  expect(source.wakes.size).toBe(0)

  const failing = { ...slowSource(), next: () => Promise.reject(new Error('disk')) }
  const broken = followRows(() => failing, 0, new AbortController().signal)[Symbol.asyncIterator]()
  await expect(broken.next()).rejects.toThrow('disk')
  expect(failing.wakes.size).toBe(0)
})
