import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EventLog, forkSession, MillraceError, memoryLog, type RunEvent } from '@millrace/core'
import { afterAll, expect, test } from 'vitest'
import { type Dice, dice, pick } from '../../../../core/src/testing/dice.ts'
import { partialEvent } from '../../../../core/src/testing/event-log/kit.ts'
import { openReader } from './connection.ts'
import { type SqliteLog, sqliteLog } from './log.ts'
import { textInRow } from './strips.ts'

const root = mkdtempSync(join(tmpdir(), 'millrace-strip-calls-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** A log that appends events one by one has no strips, and otherwise the same rows: it says what the answers must be. */
function oneByOne(log: SqliteLog): SqliteLog {
  return {
    ...log,
    append: async (id, drafts, holder, options) => {
      const rows = []
      for (const draft of drafts) rows.push(...(await log.append(id, [draft], holder, options)))
      return rows
    },
  }
}

const messages = ['m', "it's", 'n']
const ids = ['a', 'b', 'c', 'd', 'e'] as const

/** One append: partials of several messages, some of them many, between other events. */
function someEvents(random: Dice): readonly RunEvent[] {
  return Array.from({ length: 1 + random(4) }, (): readonly RunEvent[] => {
    const message = pick(random, messages)
    const count = random(6) === 0 ? 50 + random(40) : random(9)
    const wide = random(12) === 0 ? 'é'.repeat(2500) : ''
    const others: readonly RunEvent[] = [
      partialEvent(message, 'whole'),
      { kind: 'log', level: 'info', message: 'anchor' },
      { kind: 'state', patch: [{ op: 'add', path: `/${message}`, value: count }] },
    ]
    const partials = Array.from({ length: count }, (_, i) => partialEvent(message, `${wide}to\nken '${i}`, true))
    return random(3) === 0 ? partials : [...partials, pick(random, others)]
  }).flat()
}

type Call = (log: EventLog) => Promise<unknown>

const runOf = (id: string, number: number, appends: readonly (readonly RunEvent[])[], isEnded: boolean): Call => {
  const run = `r${number}`
  const started: RunEvent = { kind: 'run.started', agent: 'a', input: { messages: [] } }
  const finished: RunEvent = { kind: 'run.finished', outcome: 'done' }
  return async (log) => {
    const lease = await log.acquire(id, run, 'me', 1000)
    await log.append(id, [{ run, event: started }], lease)
    for (const events of appends)
      await log.append(
        id,
        events.map((event) => ({ run, event })),
        lease,
      )
    if (isEnded) await log.append(id, [{ run, event: finished }], lease)
    await log.release(lease)
  }
}

async function everything(log: EventLog, id: string, after: number, limit: number): Promise<unknown> {
  const info = await log.get(id)
  if (info === undefined) return undefined
  const followed = []
  const stop = new AbortController()
  if (info.lastSeq <= after) stop.abort()
  for await (const rows of log.follow(id, { after, signal: stop.signal })) {
    followed.push(...rows)
    if ((followed.at(-1)?.seq ?? 0) >= info.lastSeq) stop.abort()
  }
  return {
    info,
    rows: await log.read(id, { after: 0 }),
    page: await log.read(id, { after, limit }),
    followed,
    facts: await log.facts(id, after),
    now: await log.facts(id),
  }
}

/** What two SQLite logs must agree about, and the log in memory has not, or does otherwise. */
async function more(log: SqliteLog, id: string, after: number, limit: number): Promise<unknown> {
  if ((await log.get(id)) === undefined) return undefined
  return {
    brief: await log.readRaw(id, { after: 0, brief: true }),
    briefPage: await log.readRaw(id, { after, limit, brief: true }),
    sessions: (await log.usage?.())?.sessions,
    found: await log.search?.({ user: 'u', agent: 'a', text: 'whole', limit: 20 }),
  }
}

/** A refusal is an answer, too. */
async function answer(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call
  } catch (error) {
    if (error instanceof MillraceError && error.code !== 'store-failed') return error.code
    throw error
  }
}

function randomCall(random: Dice, number: number, prunes: () => number | undefined): Call {
  const id = pick(random, ids)
  const other = pick(random, ids)
  const appends = Array.from({ length: 1 + random(3) }, () => someEvents(random))
  const isEnded = prunes() === undefined || random(3) > 0 // a log that copies ends all open runs of a fork, not one
  const share = random(101)
  const created: Call = (log) => log.create({ id, user: 'u', agent: 'a' })
  const ran = runOf(id, number, appends, isEnded)
  const forked: Call = async (log) =>
    forkSession(log, id, Math.round((((await log.get(id))?.lastSeq ?? 0) * share) / 100), other)
  const pruned: Call = async (log) => {
    const before = prunes()
    return before === undefined ? log.get(id) : log.prune(before)
  }
  const removed: Call = (log) => log.remove(id)
  const remembered: Call = (log) => log.remember(id)
  const calls = [created, ran, ran, ran, ran, forked, forked, forked, forked, pruned, pruned, removed, remembered]
  return pick(random, calls)
}

for (const seed of [1, 2, 3, 4])
  test(`strips give the same answers as single rows and as the log in memory (seed ${seed})`, async () => {
    const random = dice(seed)
    // The log in memory copies the rows of a fork and prunes them with the others, so it is no model for both.
    const isPruned = seed % 2 === 0
    let time = 1_000_000
    const now = (): number => time
    const folder = (name: string): string => join(root, `${name} ${seed}`)
    let packed = await sqliteLog({ folder: folder('packed'), now })
    const single = oneByOne(await sqliteLog({ folder: folder('single'), now }))
    const memory = memoryLog(now)
    let strips = 0
    for (const log of [packed, single, memory]) await log.create({ id: 'a', user: 'u', agent: 'a' })
    for (let step = 0; step < 70; step++) {
      if (random(3) === 0) time += random(3000)
      if (random(10) === 0) {
        await packed.close()
        packed = await sqliteLog({ folder: folder('packed'), now })
      }
      const before = time - random(3000)
      const call = randomCall(random, step, () => (isPruned ? before : undefined))
      const theirs = await answer(call(single))
      expect({ step, answer: await answer(call(packed)) }).toEqual({ step, answer: theirs })
      if (!isPruned) expect({ step, answer: theirs }).toEqual({ step, answer: await answer(call(memory)) })
      const [after, limit] = [random(200), 1 + random(100)]
      for (const id of step % 10 === 9 ? ids : [pick(random, ids)]) {
        const rows = { step, id, all: await everything(packed, id, after, limit) }
        expect(rows).toEqual({ step, id, all: await everything(single, id, after, limit) })
        if (!isPruned) expect(rows).toEqual({ step, id, all: await everything(memory, id, after, limit) })
        expect(await more(packed, id, after, limit)).toEqual(await more(single, id, after, limit))
        // What the events of a strip have in common is stored, and counted, once.
        expect((await packed.usage?.())?.bytes).toBeLessThanOrEqual((await single.usage?.())?.bytes ?? 0)
      }
      expect(wrongSizes(folder('packed'))).toEqual([])
      strips += rowsOf(folder('packed'), 'mark < 0')
      expect(rowsOf(folder('single'), 'mark < 0')).toBe(0)
    }
    expect(strips).toBeGreaterThan(100)
    for (const id of ids) await answer(packed.remove(id))
    expect(await packed.usage?.()).toEqual({ sessions: 0, bytes: 0 })
    expect(rowsOf(folder('packed'), 'true')).toBe(0)
    expect(await packed.integrity()).toEqual([])
    await packed.close()
    await single.close()
    await memory.close()
  })

/** The sessions whose number of characters is not what their rows have. */
function wrongSizes(folder: string): readonly unknown[] {
  const reader = openReader(join(folder, 'millrace.db'))
  const stored = `(SELECT coalesce(sum(${textInRow}), 0) FROM event WHERE event.session = s.id)`
  const wrong = reader.prepare(`SELECT name, size, ${stored} FROM session s WHERE size <> ${stored}`)([])
  reader.close()
  return wrong
}

function rowsOf(folder: string, which: string): number {
  const reader = openReader(join(folder, 'millrace.db'))
  const [[count] = []] = reader.prepare(`SELECT count(*) FROM event WHERE ${which}`)([])
  reader.close()
  return Number(count)
}
