import type { RawRecorded, Recorded } from '../../event/run-event.ts'
import type { EventLog } from '../../log/event-log.ts'
import { type Kit, mine, notes, partialEvent, rejection, seqs, stopper, upTo } from './kit.ts'

export function followContract(kit: Kit): void {
  catchingUp(kit)
  asText(kit)
  racing(kit)
  ending(kit)
}

type Reader = AsyncIterator<readonly Recorded[]>

function reader(log: EventLog, after: number, signal = stopper().signal): Reader {
  return log.follow('s', { after, signal })[Symbol.asyncIterator]()
}

/** Reads until `last` has come; then the reader is put back. */
async function collect(from: Reader, last: number): Promise<readonly Recorded[]> {
  const rows: Recorded[] = []
  while ((rows.at(-1)?.seq ?? 0) < last) {
    const { value, done } = await from.next()
    if (done === true) break
    rows.push(...value)
  }
  await from.return?.()
  return rows
}

function catchingUp({ check, expect }: Kit): void {
  check('first what is stored, then what comes', async (log) => {
    await log.create(mine)
    await log.append('s', notes(3))
    const from = reader(log, 1)
    expect(seqs((await from.next()).value ?? [])).toEqual([2, 3])
    const coming = from.next()
    const rows = await log.append('s', notes(2))
    expect((await coming).value).toEqual(rows)
    await from.return?.()
  })
  check('SPEC 2.6: before the first event, and beyond the end, it waits', async (log) => {
    await log.create(mine)
    const early = reader(log, 0)
    const late = reader(log, 5)
    const [first, sixth] = [early.next(), late.next()]
    await log.append('s', notes(1))
    expect(seqs((await first).value ?? [])).toEqual([1])
    await log.append('s', notes(4))
    await log.append('s', notes(2))
    const given = seqs((await sixth).value ?? [])
    expect(given[0]).toBe(6)
    await Promise.all([early.return?.(), late.return?.()])
  })
  check('a long log comes in bounded batches, a slow reader loses nothing', async (log) => {
    await log.create(mine)
    await log.append('s', notes(2600))
    const from = reader(log, 0)
    const first = (await from.next()).value ?? []
    expect(first.length).toBeGreaterThan(0)
    expect(first.length).toBeLessThan(2000)
    for (const _ of upTo(30)) await log.append('s', notes(100)) // without a reader meanwhile
    const rest = await collect(from, 5600)
    expect([...seqs(first), ...seqs(rest)]).toEqual(upTo(5600))
  })
  check('what is followed equals what is read', async (log) => {
    await log.create(mine)
    const all = collect(reader(log, 0), 4)
    await log.append('s', [{ run: '', event: partialEvent('m', 'é \0 😀', true) }])
    await log.append('s', [...notes(2), { run: '', event: partialEvent('m', 'whole') }])
    expect(await all).toEqual(await log.read('s', { after: 0 }))
  })
}

function asText({ check, expect }: Kit): void {
  check('raw rows, where offered, are followed the same way', async (log) => {
    if (log.followRaw === undefined || log.readRaw === undefined) return
    await log.create(mine)
    await log.append('s', notes(700))
    const stop = stopper()
    const raw: RawRecorded[] = []
    const plain = collect(reader(log, 100), 803)
    const appends: Promise<unknown>[] = []
    for await (const rows of log.followRaw('s', { after: 100, signal: stop.signal })) {
      raw.push(...rows)
      if (appends.length < 2) appends.push(log.append('s', notes(51)))
      else if (appends.length < 3) appends.push(log.append('s', [{ run: '', event: partialEvent('m', 'é', true) }]))
      if (raw.at(-1)?.seq === 803) break
    }
    await Promise.all(appends)
    expect(stop.listeners()).toBe(0)
    expect(raw).toEqual(await log.readRaw('s', { after: 100 }))
    expect(raw.at(-1)).toMatchObject({ kind: 'partial' })
    expect(raw.map(({ seq, at, run, body }) => ({ seq, at, run, event: JSON.parse(body) }))).toEqual(await plain)
  })
}

function racing({ check, expect }: Kit): void {
  check('SPEC 2.5: no gap and no duplicate while appends race', async (log) => {
    await log.create(mine)
    const total = upTo(150).reduce((sum, i) => sum + (i % 7) + 1, 0)
    const readers: Promise<readonly Recorded[]>[] = []
    const cursors: number[] = []
    const appends: Promise<unknown>[] = []
    for (const i of upTo(150)) {
      appends.push(log.append('s', notes((i % 7) + 1)))
      if (i % 10 === 0) await appends.at(-1)
      if (i % 5 === 0) {
        const after = (i * 13) % total
        cursors.push(after)
        readers.push(collect(reader(log, after), total))
      }
    }
    await Promise.all(appends)
    const seen = await Promise.all(readers)
    for (const [i, rows] of seen.entries()) expect(seqs(rows)).toEqual(upTo(total, (cursors[i] ?? 0) + 1))
  })
  check('a row is followed only once it can be read', async (log) => {
    await log.create(mine)
    const from = reader(log, 0)
    for (const i of upTo(20)) {
      const coming = from.next()
      const asked = log.append('s', notes(1))
      const rows = (await coming).value ?? []
      expect(seqs(await log.read('s', { after: i - 1 }))).toEqual(seqs(rows))
      await asked
    }
    await from.return?.()
  })
  check('one session’s rows wake no other session’s reader', async (log) => {
    await log.create(mine)
    await log.create({ ...mine, id: 't' })
    const coming = reader(log, 0).next()
    await log.append('t', notes(3, 100))
    const rows = await log.append('s', notes(1))
    expect((await coming).value).toEqual(rows)
  })
}

function ending({ check, expect }: Kit): void {
  check('abort ends a waiting reader and frees its listener', async (log) => {
    await log.create(mine)
    const stop = stopper()
    const from = reader(log, 0, stop.signal)
    const coming = from.next()
    await log.get('s')
    stop.abort()
    expect((await coming).done).toBe(true)
    expect((await from.next()).done).toBe(true)
    expect(stop.listeners()).toBe(0)
  })
  check('a signal that was aborted before gives nothing', async (log) => {
    await log.create(mine)
    await log.append('s', notes(1))
    const stop = stopper()
    stop.abort()
    expect((await reader(log, 0, stop.signal).next()).done).toBe(true)
    expect(stop.listeners()).toBe(0)
  })
  check('leaving early frees the listener, also while waiting', async (log) => {
    await log.create(mine)
    await log.append('s', notes(1))
    const stop = stopper()
    for await (const _ of log.follow('s', { after: 0, signal: stop.signal })) break
    expect(stop.listeners()).toBe(0)
    const from = reader(log, 1, stop.signal)
    const coming = from.next()
    await log.get('s')
    await from.return?.()
    expect((await coming).done).toBe(true)
    expect(stop.listeners()).toBe(0)
  })
  check('remove ends the followers, also when the id is made again', async (log) => {
    await log.create(mine)
    await log.append('s', notes(1))
    const stop = stopper()
    const from = reader(log, 1, stop.signal)
    const coming = from.next()
    await log.get('s')
    await log.remove('s')
    await log.create(mine)
    await log.append('s', notes(5))
    expect((await coming).done).toBe(true)
    expect(stop.listeners()).toBe(0)
  })
  check('close ends the followers', async (log) => {
    await log.create(mine)
    const stop = stopper()
    const coming = reader(log, 0, stop.signal).next()
    await log.get('s')
    await log.close()
    expect((await coming).done).toBe(true)
    expect(stop.listeners()).toBe(0)
  })
  check('an unknown session is not found, a nonsense cursor invalid, and neither leaves a listener', async (log) => {
    const stop = stopper()
    expect(await rejection(reader(log, 0, stop.signal).next())).toBe('not-found')
    await log.create(mine)
    expect(await rejection(reader(log, Number.NaN, stop.signal).next())).toBe('invalid')
    expect(stop.listeners()).toBe(0)
  })
}
