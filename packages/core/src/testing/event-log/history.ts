import { MillraceError } from '../../event/problem.ts'
import type { Recorded } from '../../event/run-event.ts'
import type { EventLog } from '../../log/event-log.ts'
import { pagesOfHistory, type RestoredPage } from '../../log/restored-rows.ts'
import {
  drafts,
  finished,
  type Kit,
  mine,
  note,
  notes,
  partialEvent,
  recount,
  rejection,
  seqs,
  started,
  stopper,
} from './kit.ts'

export function historyContract(kit: Kit): void {
  restoring(kit)
  restoringPages(kit)
  pruning(kit)
}

const row = (seq: number, event: Recorded['event'] = note(`${seq}`), at = 1000 + seq, run = ''): Recorded => ({
  seq,
  at,
  run,
  event,
})

function restoring({ check, expect }: Kit): void {
  check('SPEC 2.10: restore keeps seq, at, run and event', async (log) => {
    const rows = [
      row(3, started, 5, 'r'),
      row(7, partialEvent('m', 'x'), 6.5, 'r'),
      row(8, finished('done'), 7, 'r'),
      row(20),
    ]
    const info = await log.restore({ ...mine, title: 'As it was' }, rows)
    expect(await log.read('s', { after: 0 })).toEqual(rows)
    expect(await log.read('s', { after: 7 })).toEqual(rows.slice(2))
    expect(info).toMatchObject({ ...mine, title: 'As it was', ...recount(info, rows) })
    expect(await log.get('s')).toEqual(info)
    expect(seqs(await log.append('s', notes(1)))).toEqual([21])
  })
  check('restore of nothing is an empty session', async (log) => {
    expect(await log.restore(mine, [])).toMatchObject({ status: 'idle', lastSeq: 0, events: 0 })
  })
  check('rows that are no history are refused whole', async (log) => {
    const bad: readonly (readonly Recorded[])[] = [
      [row(0)],
      [row(-1)],
      [row(1), row(1)],
      [row(1), row(3), row(2)],
      [row(1), row(1.5)],
      [row(1), row(2 ** 53)],
      [row(1), row(Number.NaN)],
      // The next append would have no seq of its own, and the session could never be ended or removed.
      [row(1), row(Number.MAX_SAFE_INTEGER)],
      [row(1), { ...row(2), at: Number.NaN }],
      // No Date can hold it: whoever prints the session would throw.
      [row(1), { ...row(2), at: 1e300 }],
      [row(1), { ...row(2), run: 'a\0' }],
    ]
    for (const rows of bad) {
      expect(await rejection(log.restore(mine, rows))).toBe('invalid')
      expect(await log.get('s')).toBe(undefined)
    }
    await log.restore(mine, [row(1)])
  })
  check('a long history', async (log) => {
    const rows = Array.from({ length: 3000 }, (_, i) => row(2 * i + 1))
    await log.restore(mine, rows)
    expect(await log.read('s', { after: 0 })).toEqual(rows)
    expect(await log.get('s')).toMatchObject({ events: 3000, lastSeq: 5999 })
  })
}

function restoringPages({ check, expect }: Kit): void {
  const rows = [
    row(3, started, 5, 'r'),
    row(7, partialEvent('m', 'x', true), 6.5, 'r'),
    row(8, partialEvent('m', 'x'), 6.5, 'r'),
    row(9, finished('failed'), 7, 'r'),
    ...Array.from({ length: 1200 }, (_, i) => row(20 + 2 * i)),
  ]
  const isHidden = async (log: EventLog): Promise<void> => {
    expect(await log.get('s')).toBe(undefined)
    expect((await log.list({ user: mine.user })).total).toBe(0)
    expect(await rejection(log.read('s', { after: 0 }))).toBe('not-found')
    expect(await log.expired()).toEqual([])
  }
  check('SPEC 2.10: a session that is restored in pages is seen when its last row is there', async (log) => {
    let pages = 0
    async function* watched(): AsyncGenerator<RestoredPage> {
      for await (const page of pagesOfHistory(rows)) {
        yield page
        pages += 1
        await isHidden(log)
      }
    }
    const info = await log.restorePages({ ...mine, title: 'As it was' }, watched())
    expect(pages).toBeGreaterThan(3)
    expect(info).toMatchObject({ ...mine, title: 'As it was', ...recount(info, rows) })
    expect(await log.get('s')).toEqual(info)
    expect(await log.read('s', { after: 0 })).toEqual(rows)
    expect(await log.facts('s')).toEqual({ ...(await log.facts('s', 9)), seq: info.lastSeq })
    expect(await log.startOf('s', 'r')).toBe(3)
    expect(seqs(await log.append('s', notes(1)))).toEqual([info.lastSeq + 1])
    await log.remove('s')
    await isHidden(log)
  })
  check('SPEC 2.10: pages that end with an error, or that are no history, leave nothing', async (log) => {
    async function* broken(): AsyncGenerator<RestoredPage> {
      let left = 3
      for await (const page of pagesOfHistory(rows)) {
        yield page
        left -= 1
        if (left === 0) throw new MillraceError('cancelled', 'the client has left')
      }
    }
    async function* twice(): AsyncGenerator<RestoredPage> {
      yield* pagesOfHistory(rows)
      yield* pagesOfHistory(rows)
    }
    expect(await rejection(log.restorePages(mine, broken()))).toBe('cancelled')
    expect(await rejection(log.restorePages(mine, twice()))).toBe('invalid')
    await isHidden(log)
    expect((await log.usage?.(mine.user))?.bytes ?? 0).toBe(0)
    await log.restore(mine, [row(1)])
    expect(await log.read('s', { after: 0 })).toEqual([row(1)])
  })
  check('of two that make the same session at once, one is refused', async (log) => {
    const both = await Promise.all([
      rejection(log.restorePages(mine, pagesOfHistory(rows))),
      rejection(log.restorePages(mine, pagesOfHistory(rows.slice(0, 5)))),
    ])
    expect([...both].sort()).toEqual(['conflict', 'resolved'])
    expect(await log.read('s', { after: 0 })).toEqual(both[0] === 'resolved' ? rows : rows.slice(0, 5))
    expect(await rejection(log.restorePages(mine, pagesOfHistory([])))).toBe('conflict')
  })
}

function pruning({ check, expect }: Kit): void {
  check('SPEC 2.9: prune drops partials of old finished runs, and renumbers nothing', async (log, clock) => {
    await log.create(mine)
    const old = await log.acquire('s', 'old', 'me', 1000)
    const whole = [partialEvent('m', 'a', true), partialEvent('m', 'b', true), partialEvent('m', 'ab')]
    await log.append('s', drafts('old', started, ...whole, finished('done')), old)
    await log.release(old)
    await log.append('s', notes(1))
    clock.pass(100)
    const fresh = await log.acquire('s', 'fresh', 'me', 1000)
    await log.append('s', drafts('fresh', started, ...whole, finished('done')), fresh)
    await log.release(fresh)
    const before = await log.read('s', { after: 0 })
    expect(await log.prune(clock.now())).toBe(2)
    const after = await log.read('s', { after: 0 })
    expect(after).toEqual(before.filter(({ seq }) => seq !== 2 && seq !== 3))
    const info = await log.get('s')
    expect(info).toMatchObject({ events: 9, lastSeq: 11, updatedAt: clock.now(), status: 'done' })
    expect(await log.prune(clock.now())).toBe(0)
    expect(await log.prune(clock.now() + 1)).toBe(2)
    expect(seqs(await log.append('s', notes(1)))).toEqual([12])
  })
  check('what was pruned comes to no reader, also where another one follows', async (log, clock) => {
    await log.create(mine)
    const stop = stopper()
    const early = log.follow('s', { after: 0, signal: stop.signal })[Symbol.asyncIterator]()
    const coming = early.next()
    const lease = await log.acquire('s', 'r', 'me', 1000)
    await log.append(
      's',
      drafts('r', started, partialEvent('m', 'a', true), partialEvent('m', 'a'), finished('done')),
      lease,
    )
    expect(seqs((await coming).value ?? [])).toEqual([1, 2, 3, 4])
    clock.pass(1)
    await log.prune(clock.now())
    for await (const rows of log.follow('s', { after: 0, signal: stop.signal })) {
      expect(rows).toEqual(await log.read('s', { after: 0 }))
      break
    }
    await early.return?.()
  })
  check('SPEC 5.3: a brief read leaves out no more than prune would drop', async (log, clock) => {
    await log.create(mine)
    const lease = await log.acquire('s', 'r', 'me', 1000)
    const whole = [partialEvent('whole', 'a', true), partialEvent('whole', 'ab')]
    await log.append(
      's',
      drafts('r', started, ...whole, partialEvent('cut', 'half a', true), finished('cancelled')),
      lease,
    )
    await log.release(lease)
    const open = await log.acquire('s', 'open', 'me', 1000)
    await log.append('s', drafts('open', started, ...whole), open)
    const all = await log.read('s', { after: 0 })
    const brief = await log.read('s', { after: 0, brief: true })
    expect(all.filter(({ seq }) => seqs(brief).includes(seq))).toEqual(brief)
    expect(await log.read('s', { after: 3, limit: 2, brief: true })).toEqual(
      brief.filter(({ seq }) => seq > 3).slice(0, 2),
    )
    clock.pass(1)
    await log.prune(clock.now())
    const needed = seqs(await log.read('s', { after: 0 }))
    expect(seqs(brief).filter((seq) => needed.includes(seq))).toEqual(needed)
  })
  check('an open run keeps its partials, however old', async (log, clock) => {
    await log.create(mine)
    const lease = await log.acquire('s', 'r', 'me', 1000)
    await log.append('s', drafts('r', started, partialEvent('m', 'a', true), partialEvent('m', 'a')), lease)
    clock.pass(10_000)
    expect(await log.prune(clock.now())).toBe(0)
    await log.append('s', drafts('r', finished('done')), lease)
    clock.pass(1)
    expect(await log.prune(clock.now())).toBe(1)
  })
  check('SPEC 5.3: a message that was cut keeps its partials, for they are all there is', async (log, clock) => {
    await log.create(mine)
    const lease = await log.acquire('s', 'r', 'me', 1000)
    const whole = [partialEvent('whole', 'a', true), partialEvent('whole', 'ab')]
    const textless = [partialEvent('called', 'let me look', true), partialEvent('called', '')]
    const events = [started, ...whole, ...textless, partialEvent('cut', 'half a', true), finished('cancelled')]
    await log.append('s', drafts('r', ...events), lease)
    clock.pass(1)
    expect(await log.prune(clock.now())).toBe(1)
    expect(seqs(await log.read('s', { after: 0 }))).toEqual([1, 3, 4, 5, 6, 7])
  })
}
