import type { RunEvent } from '../../event/run-event.ts'
import type { Json } from '../../json/json.ts'
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
  upTo,
} from './kit.ts'

export function appendContract(kit: Kit): void {
  oneWriter(kit)
  manyWriters(kit)
  content(kit)
  reading(kit)
}

function oneWriter({ check, expect }: Kit): void {
  check('SPEC 2.1: seqs begin at 1 and follow on without a gap', async (log, { now }) => {
    await log.create(mine)
    expect(await log.append('s', notes(2))).toEqual([
      { seq: 1, at: now(), run: '', event: note('0') },
      { seq: 2, at: now(), run: '', event: note('1') },
    ])
    expect(seqs(await log.append('s', notes(3)))).toEqual([3, 4, 5])
    expect(seqs(await log.read('s', { after: 0 }))).toEqual([1, 2, 3, 4, 5])
  })
  check('a row has the time of the log clock, unless the draft has one', async (log, clock) => {
    await log.create(mine)
    clock.pass(7)
    const rows = await log.append('s', [
      { run: '', event: note('now') },
      { run: '', event: note('then'), at: 12.5 },
    ])
    expect(rows.map(({ at }) => at)).toEqual([clock.now(), 12.5])
    expect(await log.read('s', { after: 0 })).toEqual(rows)
    for (const at of [Number.NaN, -1e300])
      expect(await rejection(log.append('s', [{ run: '', event: note('never'), at }]))).toBe('invalid')
  })
  check('SPEC 2.2: an append with one bad draft leaves nothing behind', async (log) => {
    await log.create(mine)
    await log.append('s', notes(1))
    const before = await log.get('s')
    const circular: Json[] = []
    circular.push(circular)
    const bad: RunEvent = { kind: 'log', level: 'info', message: '', data: circular }
    const good = note('good')
    expect(
      await rejection(
        log.append('s', [
          { run: '', event: good },
          { run: '', event: bad },
        ]),
      ),
    ).toBe('invalid')
    expect(
      await rejection(
        log.append('s', [
          { run: '', event: good },
          { run: 'r', event: good },
        ]),
      ),
    ).toBe('lease-lost')
    expect(await log.get('s')).toEqual(before)
    expect(seqs(await log.append('s', notes(1)))).toEqual([2])
  })
  check('an append of nothing gives nothing; without a session it is not found', async (log) => {
    const made = await log.create(mine)
    expect(await log.append('s', [])).toEqual([])
    expect(await log.get('s')).toEqual(made)
    expect(await rejection(log.append('nobody', []))).toBe('not-found')
  })
  check('SPEC 2.8: status, counts and times equal a recount of the rows', async (log, clock) => {
    await log.create(mine)
    for (const outcome of ['done', 'failed', 'cancelled', 'interrupted'] as const) {
      clock.pass(3)
      const lease = await log.acquire('s', outcome, 'me', 100)
      for (const event of [started, partialEvent('m', 'a', true), partialEvent('m', 'ab'), finished(outcome)]) {
        await log.append('s', drafts(outcome, event), lease)
        const info = await log.get('s')
        if (info !== undefined) expect(info).toMatchObject(recount(info, await log.read('s', { after: 0 })))
      }
      await log.release(lease)
      expect(await log.get('s')).toMatchObject({ status: outcome, lastRun: outcome })
    }
    await log.append('s', [{ run: '', event: note('old news'), at: 5 }])
    expect((await log.get('s'))?.cutOff).toBe(undefined)
    expect(await log.get('s')).toMatchObject({ updatedAt: clock.now(), status: 'interrupted', events: 17, runs: 4 })
  })
}

function manyWriters({ check, expect }: Kit): void {
  check('a thousand appenders at once: every seq once, every batch whole, each in its order', async (log) => {
    await log.create(mine)
    const given = await Promise.all(Array.from({ length: 1000 }, (_, i) => log.append('s', notes(1 + (i % 3), i * 10))))
    const all = given.flatMap(seqs)
    expect(all).toEqual(upTo(all.length)) // asked in this order, taken in this order
    const stored = await log.read('s', { after: 0 })
    expect(stored).toEqual(given.flat())
    const info = await log.get('s')
    expect(info).toMatchObject({ lastSeq: stored.length, events: stored.length })
  })
  check('a hundred sessions written at once do not mix', async (log) => {
    const ids = upTo(100).map((i) => `s${i}`)
    await Promise.all(ids.map((id) => log.create({ ...mine, id })))
    await Promise.all(ids.flatMap((id, i) => upTo(5).map(() => log.append(id, notes(2, i * 1000)))))
    for (const [i, id] of ids.entries()) {
      const rows = await log.read(id, { after: 0 })
      expect(seqs(rows)).toEqual(upTo(10))
      expect(new Set(rows.map(({ event }) => event.kind === 'log' && event.message))).toEqual(
        new Set([`${i * 1000}`, `${i * 1000 + 1}`]),
      )
    }
  })
  check('a refused append does not make the others fail', async (log) => {
    await log.create(mine)
    const results = await Promise.all([
      rejection(log.append('s', notes(1))),
      rejection(log.append('nobody', notes(1))),
      rejection(log.append('s', drafts('r', note('x')))),
      rejection(log.append('s', notes(1))),
      rejection(log.create(mine)),
      rejection(log.append('s', notes(1))),
    ])
    expect(results).toEqual(['resolved', 'not-found', 'lease-lost', 'resolved', 'conflict', 'resolved'])
    expect(seqs(await log.read('s', { after: 0 }))).toEqual([1, 2, 3])
  })
}

function content({ check, expect }: Kit): void {
  check('every JSON value comes back as it went in', async (log) => {
    await log.create(mine)
    const nasty = 'nul \0 quote " \\ \u2028 \ud83d\ude00 lone \ud800 漢字 \r\n\t'
    const data = {
      [nasty]: nasty,
      numbers: [0, -1, 1e308, 5e-324, 2 ** 53, -(2 ** 53), 0.1],
      deep: JSON.parse(`${'['.repeat(200)}1${']'.repeat(200)}`),
      empty: [{}, [], '', null, true, false],
      '10': 'a', // integer-like keys sort first, in every engine
      '9': 'b',
    }
    const event: RunEvent = { kind: 'log', level: 'debug', message: nasty, data }
    const [row] = await log.append('s', [{ run: '', event }])
    expect(row?.event).toEqual(event)
    expect(await log.read('s', { after: 0 })).toEqual([row])
    expect(JSON.stringify(await log.read('s', { after: 0 }))).toBe(JSON.stringify([row]))
  })
  check('an event that its writer has printed is stored as that text', async (log) => {
    await log.create(mine)
    const [one, two] = [partialEvent('m', "it's", true), partialEvent('m', "it's whole")]
    const printed = { row: 'partial', text: JSON.stringify(one) } as const
    await log.append('s', [
      { run: '', event: one, printed },
      { run: '', event: two },
    ])
    const rows = await log.read('s', { after: 0 })
    expect(rows.map(({ event }) => event)).toEqual([one, two])
    const raw = await log.readRaw?.('s', { after: 0 })
    expect(raw?.map(({ kind, body }) => [kind, body]) ?? []).toEqual(
      raw === undefined
        ? []
        : [
            ['partial', printed.text],
            ['whole', JSON.stringify(two)],
          ],
    )
  })
  check('big events and big batches', async (log) => {
    await log.create(mine)
    const big = '漢'.repeat(1_500_000)
    await log.append('s', [...notes(2), { run: '', event: note(big) }, ...notes(1500)])
    const rows = await log.read('s', { after: 0 })
    expect(seqs(rows)).toEqual(upTo(1503))
    expect(rows[2]?.event.kind === 'log' && rows[2].event.message === big).toBe(true)
  })
  check('what the writer does to its object afterwards changes nothing', async (log) => {
    await log.create(mine)
    const parts = [{ text: 'as said' }]
    const event = partialEvent('m', 'as said')
    const draft = {
      run: '',
      event: event.kind === 'agent' ? { ...event, event: { ...event.event, content: { parts } } } : event,
    }
    await log.append('s', [draft])
    parts[0] = { text: 'changed' }
    const [row] = await log.read('s', { after: 0 })
    expect(row?.event).toMatchObject({ event: { content: { parts: [{ text: 'as said' }] } } })
  })
}

function reading({ check, expect }: Kit): void {
  check('read gives what follows a cursor, in order', async (log) => {
    await log.create(mine)
    await log.append('s', notes(2600))
    const read = async (after: number, limit?: number): Promise<readonly number[]> =>
      seqs(await log.read('s', limit === undefined ? { after } : { after, limit }))
    expect(await read(0)).toEqual(upTo(2600))
    expect(await read(2598)).toEqual([2599, 2600])
    expect(await read(10, 3)).toEqual([11, 12, 13])
    expect(await read(0, 1800)).toEqual(upTo(1800))
    expect(await read(2600)).toEqual([])
    expect(await read(9_999_999)).toEqual([])
    expect(await read(0, 0)).toEqual([])
    expect(await rejection(log.read('s', { after: Number.NaN }))).toBe('invalid')
    expect(await rejection(log.read('s', { after: -1 }))).toBe('invalid')
    expect(await rejection(log.read('nobody', { after: 0 }))).toBe('not-found')
  })
  check('a read that meets a removal gives the whole or nothing, never a part or another session', async (log) => {
    await log.create(mine)
    await log.append('s', notes(2600))
    const [read] = await Promise.allSettled([
      log.read('s', { after: 0 }),
      log
        .remove('s')
        .then(() => log.create(mine))
        .then(() => log.append('s', notes(2600, 9000))),
    ])
    if (read.status === 'rejected') expect(await rejection(Promise.reject(read.reason))).toBe('not-found')
    else
      expect(read.value.map(({ event }) => event.kind === 'log' && event.message)).toEqual(
        upTo(2600).map((i) => `${i - 1}`),
      )
  })
  check('raw rows, where offered, are the same rows', async (log) => {
    if (log.readRaw === undefined) return
    await log.create(mine)
    await log.append('s', [...notes(1200), { run: '', event: partialEvent('m', 'é\0') }])
    for (const options of [{ after: 0 }, { after: 1100 }, { after: 5, limit: 700 }]) {
      const raw = await log.readRaw('s', options)
      const parsed = raw.map(({ seq, at, run, body }) => ({ seq, at, run, event: JSON.parse(body) }))
      expect(parsed).toEqual(await log.read('s', options))
    }
    expect(await rejection(log.readRaw('nobody', { after: 0 }))).toBe('not-found')
    await log.restore(
      { ...mine, id: 'marks' },
      [started, partialEvent('m', 'a', true), partialEvent('m', 'ab'), partialEvent('n', ''), finished('done')].map(
        (event, i) => ({
          seq: i + 1,
          at: 0,
          run: 'r',
          event,
        }),
      ),
    )
    const marks = (await log.readRaw('marks', { after: 0 })).map(({ kind }) => kind)
    expect(marks).toEqual(['start', 'partial', 'whole', 'other', 'end'])
  })
}
