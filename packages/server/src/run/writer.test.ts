import { type Draft, type EventLog, memoryLog, type RunEvent } from '@millrace/core'
import { expect, test } from 'vitest'
import { RunLedger } from './ledger.ts'
import { runLimits } from './limits.ts'
import { RunWriter } from './writer.ts'

const said = (message: string): RunEvent => ({ kind: 'log', level: 'info', message })

/** A writer on a log that records the size of each append. */
async function setUp() {
  const log = memoryLog(() => 1)
  await log.create({ id: 's', user: 'u', agent: 'a' })
  const lease = await log.acquire('s', 'r', 'owner', 1000)
  await log.append('s', [{ run: 'r', event: { kind: 'run.started', agent: 'a', input: { messages: [] } } }], lease)
  const appends: number[] = []
  const counting: EventLog = {
    ...log,
    append: (id, drafts: readonly Draft[], holder) => {
      appends.push(drafts.length)
      return log.append(id, drafts, holder)
    },
  }
  const options = { log: counting, lease, ledger: new RunLedger(), limits: runLimits, onBroken: () => {} }
  return { log, writer: new RunWriter(options), appends }
}

test('events that an agent yields without waiting, and the end, are one append', async () => {
  const { log, writer, appends } = await setUp()
  for (let i = 0; i < 5; i++) {
    void writer.put(said(String(i)), 10)
    await undefined
  }
  expect(await writer.finish({ kind: 'run.finished', outcome: 'done' })).toBe('done')
  expect(appends).toEqual([6])
  const rows = await log.read('s', { after: 1 })
  expect(rows.map(({ event }) => (event.kind === 'log' ? event.message : event.kind))).toEqual([
    ...['0', '1', '2', '3', '4'],
    'run.finished',
  ])
})

test('an event is appended in the next turn of the event loop, without waiting for more', async () => {
  const { writer, appends } = await setUp()
  void writer.put(said('a'), 10)
  await new Promise((resolve) => setImmediate(resolve))
  expect(appends).toEqual([1])
  await new Promise((resolve) => setImmediate(resolve))
  void writer.put(said('b'), 10)
  await new Promise((resolve) => setImmediate(resolve))
  expect(appends).toEqual([1, 1])
})

test('what was put is durable when `flushed` resolves, however much is put meanwhile', async () => {
  const { log, writer } = await setUp()
  const messages = async (): Promise<readonly string[]> =>
    (await log.read('s', { after: 1 })).flatMap(({ event }) => (event.kind === 'log' ? [event.message] : []))
  await writer.flushed()
  void writer.put(said('a'), 10)
  const first = writer.flushed()
  await new Promise((resolve) => setImmediate(resolve))
  void writer.put(said('b'), 10)
  const second = writer.flushed()
  await first
  expect(await messages()).toContain('a')
  await second
  expect(await messages()).toEqual(['a', 'b'])
  await writer.abandon()
  await writer.flushed()
})
