import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pagesOfHistory, type RestoredPage } from '@millrace/core/store'
import { afterAll, expect, test } from 'vitest'
import { openReader } from './connection.ts'
import { sqliteLog } from './log.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-leftovers-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const rows = Array.from({ length: 2000 }, (_, i) => ({
  seq: i + 1,
  at: 1,
  run: '',
  event: { kind: 'log', level: 'info', message: `${i}` } as const,
}))

/** How many rows of each table are in the file. */
function stored(): Record<string, number> {
  const reader = openReader(join(folder, 'millrace.db'))
  const count = (table: string): number => Number(reader.prepare(`SELECT count(*) FROM ${table}`)([])[0]?.[0])
  const counts = Object.fromEntries(['event', 'session', 'leftover'].map((table) => [table, count(table)]))
  reader.close()
  return counts
}

test('what a process leaves of a session that it restores counts for its user, and is deleted at the next start', async () => {
  const log = await sqliteLog({ folder, now: () => 1 })
  let underway = 0
  async function* interrupted(): AsyncGenerator<RestoredPage> {
    let left = 3
    for await (const page of pagesOfHistory(rows)) {
      if (left === 0) break
      yield page
      left -= 1
    }
    underway = (await log.usage?.('u'))?.bytes ?? 0
    await log.close()
    throw new Error('the process ends')
  }
  await expect(log.restorePages({ id: 's', user: 'u', agent: 'a' }, interrupted())).rejects.toThrow('the process ends')
  expect(underway).toBeGreaterThan(10_000)
  expect(stored()).toEqual({ event: 768, session: 0, leftover: 1 })

  const again = await sqliteLog({ folder, now: () => 1 })
  await expect.poll(() => again.usage?.('u')).toEqual({ sessions: 0, bytes: 0 })
  await again.restore({ id: 's', user: 'u', agent: 'a' }, rows)
  expect(stored()).toEqual({ event: 2000, session: 1, leftover: 0 })
  await again.remove('s')
  expect(stored()).toEqual({ event: 0, session: 0, leftover: 0 })
  await again.close()
})
