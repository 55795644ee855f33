import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Draft, RunEvent } from '@millrace/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type SqliteLog, sqliteLog } from './log.ts'

const session = { id: 's', user: 'u', agent: 'a' }
const started: RunEvent = { kind: 'run.started', agent: 'a', input: { messages: [] } }
const finished: RunEvent = { kind: 'run.finished', outcome: 'done' }
const drafts = (run: string, ...events: readonly RunEvent[]): readonly Draft[] =>
  events.map((event) => ({ run, event }))
const withFirst = { withFirst: true }

let folder: string
let log: SqliteLog
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-promised-'))
  log = await sqliteLog({ folder, now: () => 1 })
  await log.create(session)
})
afterEach(async () => {
  await log.close()
  rmSync(folder, { recursive: true, force: true })
})

test('a promised lease is written with the first rows of its run, and then holds as any other', async () => {
  const lease = await log.acquire('s', 'r', 'me', 1000, withFirst)
  expect(await log.heldBy('me')).toEqual([])
  await log.append('s', drafts('r', started), lease)
  expect(await log.heldBy('me')).toMatchObject([{ session: 's', run: 'r', epoch: lease.epoch }])
  await expect(log.acquire('s', 'other', 'me', 1000, withFirst)).rejects.toMatchObject({ code: 'busy' })
  await expect(log.remove('s')).rejects.toMatchObject({ code: 'busy' })
  await log.append('s', drafts('r', finished), lease)
  expect((await log.renew(lease, 2000)).until).toBe(2001)
  expect((await log.read('s', { after: 0 })).map(({ seq }) => seq)).toEqual([1, 2])
})

test('a promised lease is lost where another was granted before its first rows, and nothing is written', async () => {
  const lease = await log.acquire('s', 'r', 'me', 1000, withFirst)
  const other = await log.acquire('s', 'other', 'me', 1000)
  await expect(log.append('s', drafts('r', started), lease)).rejects.toMatchObject({ code: 'lease-lost' })
  await log.release(lease)
  expect(await log.heldBy('me')).toMatchObject([{ run: 'other' }])
  await log.append('s', drafts('other', started), other)
})

test('a promised lease is lost where the session was removed and made again', async () => {
  const lease = await log.acquire('s', 'r', 'me', 1000, withFirst)
  await log.remove('s')
  await log.create(session)
  await expect(log.append('s', drafts('r', started), lease)).rejects.toMatchObject({ code: 'lease-lost' })
  expect(await log.get('s')).toMatchObject({ lastSeq: 0, status: 'idle' })
})

test('the last rows of a run release its lease, and rows that are refused do not', async () => {
  const lease = await log.acquire('s', 'r', 'me', 1000)
  const wrong = log.append('s', drafts('other', finished), lease, { last: true })
  await expect(wrong).rejects.toMatchObject({ code: 'lease-lost' })
  expect(await log.heldBy('me')).toHaveLength(1)
  await log.append('s', drafts('r', started, finished), lease, { last: true })
  expect(await log.heldBy('me')).toEqual([])
  await expect(log.renew(lease, 1000)).rejects.toMatchObject({ code: 'lease-lost' })
  await log.release(lease)
  expect(await log.get('s')).toMatchObject({ status: 'done', lastSeq: 2 })
  expect((await log.acquire('s', 'next', 'me', 1000)).epoch).toBe(lease.epoch + 1)
})
