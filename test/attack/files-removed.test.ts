import { copyFileSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { MillraceError } from '@millrace/core'
import { type SqliteLog, sqliteLog } from '@millrace/server'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

/** Somebody removes files of a log that is in use. */
let folder = ''
let log: SqliteLog
let lost: MillraceError[] = []
let told = (): void => {}
const place = (name: string): string => join(folder, name)
const open = (): Promise<SqliteLog> =>
  sqliteLog({
    folder,
    now: Date.now,
    onLost: (error) => {
      lost.push(error)
      told()
    },
  })
const note = (message: string) => log.append('s', [{ run: '', event: { kind: 'log', level: 'info', message } }])
const loss = (): Promise<void> =>
  new Promise((resolve) => {
    told = resolve
    if (lost.length > 0) resolve()
  })

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-removed-'))
  lost = []
  told = () => {}
  log = await open()
  await log.create({ id: 's', user: 'u', agent: 'a' })
  await note('kept')
})
afterEach(async () => {
  await log.close()
  rmSync(folder, { recursive: true, force: true })
})

const removed = { code: 'store-failed', facts: { reason: 'removed' } }

describe('while the log is open', () => {
  test.each([
    ['the database is removed', () => rmSync(place('millrace.db'))],
    ['the WAL is removed', () => rmSync(place('millrace.db-wal'))],
    ['the whole folder is removed', () => rmSync(folder, { recursive: true })],
    ['the database is moved away', () => renameSync(place('millrace.db'), place('moved.db'))],
    [
      'the database is replaced',
      () => {
        copyFileSync(place('millrace.db'), place('copy.db'))
        renameSync(place('copy.db'), place('millrace.db'))
      },
    ],
  ])('%s: nothing is acknowledged, and that is said once', async (_name, damage) => {
    damage()
    await expect(note('not on disk')).rejects.toMatchObject(removed)
    await expect(log.create({ id: 't', user: 'u', agent: 'a' })).rejects.toMatchObject(removed)
    const both = await Promise.allSettled([note('one'), note('two')])
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(lost).toHaveLength(1)
    expect(lost[0]?.message).toMatch(/millrace\.db(-wal)?: it was removed or replaced while in use/)
    // What was recorded can still be read.
    expect((await log.read('s', { after: 0, limit: 1 }))[0]?.event).toMatchObject({ message: 'kept' })
  })

  test('a loss is noticed while nothing is written', async () => {
    rmSync(place('millrace.db'))
    await loss()
    expect(lost[0]).toMatchObject(removed)
  })

  test('without its WAL, it saves on closing what it has acknowledged', async () => {
    rmSync(place('millrace.db-wal'))
    await expect(note('not on disk')).rejects.toMatchObject(removed)
    await log.close()
    log = await open()
    expect((await log.read('s', { after: 0 }))[0]?.event).toMatchObject({ message: 'kept' })
  })

  test('the lock is removed: a second log is refused all the same, the lock is made again, and the first goes on', async () => {
    rmSync(place('millrace.lock'))
    await expect(open()).rejects.toMatchObject({ code: 'store-failed', facts: { reason: 'locked' } })
    await note('more')
    await loss()
    expect(lost[0]).toMatchObject({ facts: { reason: 'unlocked' } })
    expect(existsSync(place('millrace.lock'))).toBe(true)
    await expect(open()).rejects.toMatchObject({ facts: { reason: 'locked' } })
    await note('and more')
    expect(lost).toHaveLength(1)
    expect(readdirSync(folder).toSorted()).toEqual([
      'millrace.db',
      'millrace.db-shm',
      'millrace.db-wal',
      'millrace.key',
      'millrace.lock',
    ])
  })
})
