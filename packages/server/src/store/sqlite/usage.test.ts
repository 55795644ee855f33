import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunEvent } from '@millrace/core'
import { expect, test } from 'vitest'
import { type SqliteLog, sqliteLog } from './log.ts'

const said = (text: string, partial: boolean): RunEvent => ({
  kind: 'agent',
  message: 'm',
  event: { id: text, author: 'a', invocationId: 'i', timestamp: 1, content: { parts: [{ text }] }, partial },
})
const started: RunEvent = { kind: 'run.started', agent: 'a', input: { messages: [] } }
const finished: RunEvent = { kind: 'run.finished', outcome: 'done' }
const users = ['u', 'v', 'nobody', undefined]

test('what is counted along is what the file says, whatever was written, removed, pruned or refused', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-usage-'))
  const counted = (log: SqliteLog) => Promise.all(users.map((user) => log.usage?.(user)))
  let log = await sqliteLog({ folder, now: () => 1 })
  /** The counts as they were kept, after they were compared with those of a log that has just read the file. */
  const same = async (): Promise<unknown> => {
    const kept = await counted(log)
    await log.close()
    log = await sqliteLog({ folder, now: () => 1 })
    expect(kept).toEqual(await counted(log))
    return kept[3]
  }
  expect(await counted(log)).toEqual(users.map(() => ({ sessions: 0, bytes: 0 })))
  await Promise.all(['s', 't'].map((id) => log.create({ id, user: 'u', agent: 'a' })))
  await log.create({ id: 'w', user: 'v', agent: 'a' })
  const lease = await log.acquire('s', 'r', 'me', 1000)
  const events = [started, said('one', true), said('two', true), said('one two', false), finished]
  await log.append(
    's',
    events.map((event) => ({ run: 'r', event })),
    lease,
  )
  await log.release(lease)
  expect(await same()).toMatchObject({ sessions: 3 })
  const refused = log.append('w', [{ run: 'r', event: started }], lease)
  await expect(refused).rejects.toMatchObject({ code: 'lease-lost' })
  await Promise.all([
    log.prune(Number.POSITIVE_INFINITY),
    log.fork?.('s', 2, { id: 'f', user: 'v', agent: 'a' }, []),
    log.append('t', [{ run: '', event: { kind: 'log', level: 'info', message: 'é' } }]),
  ])
  expect(await same()).toMatchObject({ sessions: 4 })
  await Promise.all([log.remove('t'), log.create({ id: 't', user: 'v', agent: 'a' }), log.rename('w', 'title')])
  await log.remove('s')
  expect(await same()).toMatchObject({ sessions: 3 })
  await log.close()
  rmSync(folder, { recursive: true, force: true })
})
