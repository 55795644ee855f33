import type { RunEvent } from '../../event/run-event.ts'
import type { EventLog, SessionQuery } from '../../log/event-log.ts'
import { forkSession } from '../../log/history.ts'
import { drafts, finished, type Kit, mine, partialEvent, started } from './kit.ts'

const crash: RunEvent = {
  kind: 'run.finished',
  outcome: 'failed',
  error: { code: 'crashed', message: 'the server stopped while this run was active' },
}
const fault: RunEvent = { kind: 'run.finished', outcome: 'failed', error: { code: 'agent-error', message: 'no' } }

/** A session whose last run nobody saw end is `failed` and cut off, in every way to read it. */
export function cutOffContract({ check, expect }: Kit): void {
  check('a session is cut off when its last run was, until the next run', async (log) => {
    await log.create(mine)
    await run(log, 's', 'r1', crash)
    const info = await log.get('s')
    expect(info).toMatchObject({ status: 'failed', cutOff: true })
    expect((await log.list({})).sessions).toEqual([info])
    expect(await log.rename('s', 'Renamed')).toMatchObject({ status: 'failed', cutOff: true })

    const rows = await log.read('s', { after: 0 })
    expect(await log.restore({ ...mine, id: 'copy' }, rows)).toMatchObject({ status: 'failed', cutOff: true })
    await forkSession(log, 's', rows.length, 'fork')
    for (const id of ['copy', 'fork']) expect(await log.get(id)).toMatchObject({ status: 'failed', cutOff: true })

    for (const id of ['s', 'copy', 'fork']) await run(log, id, 'r2', fault)
    for (const { status, cutOff } of (await log.list({})).sessions)
      expect({ status, cutOff }).toEqual({ status: 'failed' })
    const before = await log.read('s', { after: 0 })
    await run(log, 's', 'r3', crash)
    await forkSession(log, 's', before.length, 'earlier')
    expect((await log.get('earlier'))?.cutOff).toBe(undefined)
  })
  check('lists and searches tell sessions that were cut off from others that failed', async (log) => {
    const ends: readonly (readonly [string, RunEvent])[] = [
      ['crashed', crash],
      ['broken', fault],
      ['fine', finished('done')],
    ]
    for (const [id, end] of ends) {
      await log.create({ ...mine, id })
      await run(log, id, 'r', end)
    }
    const found = async (query: Pick<SessionQuery, 'status' | 'cutOff'>): Promise<readonly string[]> => {
      const { sessions, total } = await log.list(query)
      expect(total).toBe(sessions.length)
      const listed = sessions.map(({ id }) => id).sort()
      const page = await log.find({ text: 'embers', ...query })
      expect([...new Set(page.found.map(({ session }) => session))].sort()).toEqual(listed)
      return listed
    }
    // For a reader that does not know of it, the session failed.
    expect(await found({ status: 'failed' })).toEqual(['broken', 'crashed'])
    expect(await found({ status: 'failed', cutOff: true })).toEqual(['crashed'])
    expect(await found({ status: 'failed', cutOff: false })).toEqual(['broken'])
    expect(await found({ cutOff: true })).toEqual(['crashed'])
    expect(await found({ cutOff: false })).toEqual(['broken', 'fine'])
    expect(await found({ status: 'done', cutOff: true })).toEqual([])
  })
}

async function run(log: EventLog, session: string, name: string, end: RunEvent): Promise<void> {
  const lease = await log.acquire(session, name, 'me', 1_000)
  await log.append(session, drafts(name, started, partialEvent(name, 'embers'), end), lease)
  await log.release(lease)
}
