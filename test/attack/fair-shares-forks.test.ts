import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EventLog, forkSession, type RunEvent } from '@millrace/core'
import { type SqliteLog, sqliteLog } from '@millrace/server'
import { afterEach, beforeEach, expect, test } from 'vitest'

let folder: string
let log: SqliteLog
let time: number
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-forks-'))
  time = 1_000
  log = await sqliteLog({ folder, now: () => time })
})
afterEach(async () => {
  await log.close()
  await rm(folder, { recursive: true })
})

const message = (id: string, text: string, partial: boolean): RunEvent => ({
  kind: 'agent',
  message: id,
  event: {
    id: `${id}-${text.length}`,
    invocationId: 'i',
    author: 'a',
    timestamp: 1,
    partial,
    content: { role: 'model', parts: [{ text }] },
  },
})
const started: RunEvent = { kind: 'run.started', agent: 'a', input: { messages: [] } }

/** A run with tokens, state and, unless it is left open, its end. */
async function run(session: string, name: string, isEnded = true, text = 'some words'): Promise<void> {
  const lease = await log.acquire(session, name, 'me', 1_000)
  const events: RunEvent[] = [
    started,
    { kind: 'node.started', node: `${name}@1`, agent: 'a' },
    { kind: 'state', patch: [{ op: 'add', path: `/${name}`, value: text.length }] },
    ...[...text.matchAll(/\S+/g)].map(([word]) => message(name, word, true)),
    message(name, text, false),
    ...(isEnded
      ? ([
          { kind: 'node.finished', node: `${name}@1`, status: 'ok' },
          { kind: 'run.finished', outcome: 'done' },
        ] as const)
      : []),
  ]
  await log.append(
    session,
    events.map((event) => ({ run: name, event })),
    lease,
  )
  await log.release(lease)
}

async function everything(of: EventLog, id: string) {
  const followed = []
  const stop = new AbortController()
  if ((await of.get(id))?.lastSeq === 0) stop.abort()
  for await (const rows of of.follow(id, { after: 0, signal: stop.signal })) {
    followed.push(...rows)
    if ((followed.at(-1)?.seq ?? 0) >= ((await of.get(id))?.lastSeq ?? 0)) stop.abort()
  }
  const { id: _id, ...info } = (await of.get(id)) ?? { id }
  return {
    info,
    rows: await of.read(id, { after: 0 }),
    tail: await of.read(id, { after: 4, limit: 7 }),
    brief: await of.read(id, { after: 0, brief: true }),
    raw: await of.readRaw?.(id, { after: 2 }),
    followed,
    facts: await of.facts(id),
    past: await of.facts(id, 5),
    starts: [
      await of.startOf(id, 'r1'),
      await of.startOf(id, 'r2'),
      await of.startOf(id, 'r3'),
      await of.startOf(id, 'x'),
    ],
  }
}

/** The log as it was: without `fork` a fork copies its rows. */
const copying = (): EventLog => {
  const { fork: _fork, ...rest } = log
  return rest
}

test.each([
  ['at its end', undefined],
  ['in the middle of a run', 8],
  ['between runs', 7],
  ['at its first row', 1],
  ['before its first row', 0],
])('a fork %s that shares its rows reads as one that copied them', async (_name, at) => {
  await log.create({ id: 's', user: 'u', agent: 'a' })
  await run('s', 'r1')
  await run('s', 'r2', false)
  const seq = at ?? (await log.get('s'))?.lastSeq ?? 0
  await forkSession(log, 's', seq, 'shares')
  await forkSession(copying(), 's', seq, 'copies')
  expect(await everything(log, 'shares')).toEqual(await everything(log, 'copies'))
  for (const id of ['shares', 'copies']) await run(id, 'r3')
  expect(await everything(log, 'shares')).toEqual(await everything(log, 'copies'))
  // A fork of the fork, within what is shared and beyond it.
  for (const again of [Math.min(seq, 3), ((await log.get('shares'))?.lastSeq ?? 0) - 2]) {
    await forkSession(log, 'shares', again, `shares-${again}`)
    await forkSession(copying(), 'copies', again, `copies-${again}`)
    const [one, other] = [await everything(log, `shares-${again}`), await everything(log, `copies-${again}`)]
    expect({ ...one, info: { ...one.info, forkOf: undefined } }).toEqual({
      ...other,
      info: { ...other.info, forkOf: undefined },
    })
  }
})

test('a fork keeps what it shares when its origin is deleted, pruned or written to', async () => {
  await log.create({ id: 's', user: 'u', agent: 'a' })
  await run('s', 'r1')
  await run('s', 'r2')
  await forkSession(log, 's', 9, 'fork')
  await forkSession(log, 'fork', 4, 'of-fork')
  const [fork, ofFork] = [await everything(log, 'fork'), await everything(log, 'of-fork')]
  await run('s', 'r3')
  time = 100_000
  await log.prune(50_000)
  expect(await everything(log, 'fork')).toEqual(fork)
  await log.remove('s')
  expect(await everything(log, 'fork')).toEqual(fork)
  await log.remove('fork')
  expect(await everything(log, 'of-fork')).toEqual(ofFork)
  await log.close()
  log = await sqliteLog({ folder, now: () => time })
  expect(await everything(log, 'of-fork')).toEqual(ofFork)
  await log.remove('of-fork')
  expect(await log.usage?.()).toEqual({ sessions: 0, bytes: 0 })
  // Nothing is left of any of them: a new session takes the room that they had.
  await log.close()
  const size = async () => (await stat(join(folder, 'millrace.db'))).size
  const before = await size()
  log = await sqliteLog({ folder, now: () => time })
  await log.create({ id: 's', user: 'u', agent: 'a' })
  await run('s', 'r1')
  await run('s', 'r2')
  await log.close()
  expect(await size()).toBe(before)
  log = await sqliteLog({ folder, now: () => time })
})

test('twenty forks of a long session cost little more than one', async () => {
  await log.create({ id: 's', user: 'u', agent: 'a' })
  for (let i = 0; i < 20; i += 1) await run('s', `r${i}`, true, 'word '.repeat(20) + 'x'.repeat(100_000))
  const size = async () => (await stat(join(folder, 'millrace.db'))).size
  await log.close()
  const alone = await size()
  expect(alone).toBeGreaterThan(2_000_000)
  log = await sqliteLog({ folder, now: () => time })
  for (let i = 0; i < 20; i += 1) await forkSession(log, 's', (await log.get('s'))?.lastSeq ?? 0, `f${i}`)
  await log.close()
  expect(await size()).toBeLessThan(alone * 1.2)
  log = await sqliteLog({ folder, now: () => time })
  expect(await log.read('f19', { after: 0 })).toEqual(await log.read('s', { after: 0 }))
})
