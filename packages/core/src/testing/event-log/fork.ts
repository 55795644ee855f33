import type { RunEvent } from '../../event/run-event.ts'
import type { EventLog } from '../../log/event-log.ts'
import { forkSession } from '../../log/history.ts'
import { drafts, finished, type Kit, mine, partialEvent, rejection, started, stopper } from './kit.ts'

/** A fork reads alike, whether the log shares its rows or copies them. */
export function forkContract({ check, expect }: Kit): void {
  const places: readonly (readonly [string, number | undefined])[] = [
    ['at its end', undefined],
    ['in the middle of a run', 8],
    ['between runs', 7],
    ['at its first row', 1],
    ['before its first row', 0],
  ]
  for (const [name, at] of places)
    check(`a fork ${name} reads as one that copied its rows`, async (log) => {
      await log.create(mine)
      await talk(log, 's', 'r1')
      await talk(log, 's', 'r2', false)
      const seq = at ?? (await log.get('s'))?.lastSeq ?? 0
      await forkSession(log, 's', seq, 'shares')
      await forkSession(copying(log), 's', seq, 'copies')
      expect(await everything(log, 'shares')).toEqual(await everything(log, 'copies'))
      for (const id of ['shares', 'copies']) await talk(log, id, 'r3')
      expect(await everything(log, 'shares')).toEqual(await everything(log, 'copies'))
      // A fork of the fork, within what is shared and beyond it.
      for (const again of [Math.min(seq, 3), ((await log.get('shares'))?.lastSeq ?? 0) - 2]) {
        await forkSession(log, 'shares', again, `shares-${again}`)
        await forkSession(copying(log), 'copies', again, `copies-${again}`)
        const forkOf = undefined
        const [one, other] = [await everything(log, `shares-${again}`), await everything(log, `copies-${again}`)]
        expect({ ...one, info: { ...one.info, forkOf } }).toEqual({ ...other, info: { ...other.info, forkOf } })
      }
    })

  check('forks keep what they share when sessions are written to and removed', async (log) => {
    await log.create(mine)
    await talk(log, 's', 'r1')
    await talk(log, 's', 'r2')
    await forkSession(log, 's', 9, 'fork')
    await talk(log, 'fork', 'r3')
    await forkSession(log, 'fork', 4, 'early')
    await forkSession(log, 'fork', 12, 'late')
    const forks = ['fork', 'early', 'late']
    const before = await Promise.all(forks.map((id) => everything(log, id)))
    await talk(log, 's', 'r3')
    await log.remove('s')
    expect(await Promise.all(forks.map((id) => everything(log, id)))).toEqual(before)
    await log.create({ ...mine, title: 'another of the same id' })
    await talk(log, 's', 'r9')
    expect(await Promise.all(forks.map((id) => everything(log, id)))).toEqual(before)
    await log.remove('fork')
    expect(await everything(log, 'early')).toEqual(before[1])
    expect(await everything(log, 'late')).toEqual(before[2])
    await log.remove('early')
    expect(await everything(log, 'late')).toEqual(before[2])
    await log.remove('late')
    await log.remove('s')
    expect(await log.usage?.()).toEqual(log.usage === undefined ? undefined : { sessions: 0, bytes: 0 })
  })

  check('pruning leaves the rows that a fork shares', async (log, clock) => {
    if (log.fork === undefined) return
    await log.create(mine)
    await talk(log, 's', 'r1')
    await forkSession(log, 's', 7, 'fork')
    await talk(log, 's', 'r2')
    const before = await everything(log, 'fork')
    clock.pass(100_000)
    expect(await log.prune(clock.now() - 50_000)).toBeGreaterThan(0)
    expect(await everything(log, 'fork')).toEqual(before)
  })

  check('a fork of what is not there is refused', async (log) => {
    const fork = (source: string, seq: number): Promise<string> =>
      rejection((log.fork ?? (() => Promise.resolve()))(source, seq, { ...mine, id: 'f' }, []))
    const shares = log.fork !== undefined
    expect(await fork('nothing', 0)).toBe(shares ? 'not-found' : 'resolved')
    await log.create(mine)
    expect(await fork('s', 1)).toBe(shares ? 'invalid' : 'resolved')
    expect(await rejection(forkSession(log, 's', 0, 's'))).toBe('conflict')
  })
}

/** A run with partials, state and, unless it is left open, its end. */
async function talk(log: EventLog, session: string, name: string, isEnded = true): Promise<void> {
  const lease = await log.acquire(session, name, 'me', 1_000)
  const events: readonly RunEvent[] = [
    started,
    { kind: 'node.started', node: `${name}@1`, agent: 'recovery' },
    { kind: 'state', patch: [{ op: 'add', path: `/${name}`, value: 1 }] },
    partialEvent(name, 'some', true),
    partialEvent(name, 'words', true),
    partialEvent(name, 'some words'),
    ...(isEnded ? [{ kind: 'node.finished', node: `${name}@1`, status: 'ok' } as const, finished('done')] : []),
  ]
  await log.append(session, drafts(name, ...events), lease)
  await log.release(lease)
}

/** The log as one that cannot share rows. */
function copying(log: EventLog): EventLog {
  const { fork: _fork, ...rest } = log
  return rest
}

async function everything(log: EventLog, id: string) {
  const { id: _id, ...info } = (await log.get(id)) ?? { id, lastSeq: 0 }
  const followed = []
  const stop = stopper()
  if (info.lastSeq === 0) stop.abort()
  for await (const rows of log.follow(id, { after: 0, signal: stop.signal })) {
    followed.push(...rows)
    if ((followed.at(-1)?.seq ?? 0) >= info.lastSeq) stop.abort()
  }
  return {
    info,
    rows: await log.read(id, { after: 0 }),
    middle: await log.read(id, { after: 4, limit: 7 }),
    brief: await log.read(id, { after: 0, brief: true }),
    raw: await log.readRaw?.(id, { after: 2 }),
    followed,
    facts: await log.facts(id),
    past: await log.facts(id, 5),
    starts: await Promise.all(['r1', 'r2', 'r3', 'x'].map((run) => log.startOf(id, run))),
  }
}
