import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EventLog, forkSession, type RunEvent } from '@millrace/core'
import { postgresLog, sqliteLog } from '@millrace/server'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packedMain } from '../kit/built-packages.ts'
import { full } from '../kit/full.ts'
import { type Postgres, startPostgres } from '../kit/postgres.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-move-'))
const home = join(folder, 'home')
let postgres: Postgres
let admin: pg.Client
beforeAll(async () => {
  postgres = await startPostgres()
  admin = new pg.Client(postgres.url)
  await admin.connect()
  const log = await sqliteLog({ folder: home, now: Date.now })
  await furnish(log)
  await log.close()
})
afterAll(async () => {
  await admin.end()
  await postgres.stop()
  rmSync(folder, { recursive: true })
})

async function database(name: string): Promise<string> {
  await admin.query(`CREATE DATABASE ${name}`)
  return postgres.url.replace('/postgres?', `/${name}?`)
}

const sessions = 40

/** Everything that a store can hold. */
async function furnish(log: EventLog): Promise<void> {
  for (let i = 0; i < sessions; i++) {
    const id = `s${String(i).padStart(2, '0')}`
    await log.create({ id, user: i % 2 === 0 ? 'ann' : 'bob', agent: 'a', title: `Title ${i} ✓ "quoted"` })
    await talk(log, id, 'r1', 5 + i)
  }
  await forkSession(log, 's03', 6, 'fork')
  await talk(log, 'fork', 'r2', 3)
  await forkSession(log, 'fork', 12, 'a fork of the fork')
  await forkSession(log, 's04', 4, 'of a removed one')
  await talk(log, 'of a removed one', 'r2', 3)
  await forkSession(log, 'of a removed one', 7, 'of a removed one, again')
  await log.remove('s04')
  await log.remember('s05')
  const state: RunEvent = { kind: 'state', patch: [{ op: 'add', path: '/user:colour', value: 'blue ✓' }] }
  await log.append('s06', [{ run: '', event: state }])
  const saved = { kind: 'artifact', mimeType: 'text/plain', data: 'aGVsbG8=' } as const
  for (const [name, version] of [
    ['user:z', 0],
    ['user:a', 0],
    ['user:z', 1],
  ] as const)
    await log.append('s06', [{ run: '', event: { ...saved, name, version } as unknown as RunEvent }])
  await log.restore({ id: 'imported', user: 'ann', agent: 'a' }, [
    { seq: 3, at: 1.5, run: '', event: { kind: 'log', level: 'info', message: 'nul \u0000 and \u2028' } },
    { seq: 9, at: -7, run: '', event: { kind: 'log', level: 'info', message: 'later' } },
  ])
  // A server was killed here: the run is open, and its lease is left.
  const lease = await log.acquire('s07', 'open', 'a dead server', 1)
  await log.append('s07', [{ run: 'open', event: { kind: 'run.started', agent: 'a', input: { messages: [] } } }], lease)
}

async function talk(log: EventLog, id: string, run: string, words: number): Promise<void> {
  const said = (text: string, partial: boolean): RunEvent => ({
    kind: 'agent',
    message: run,
    event: {
      id: `${run}-${text}`,
      author: 'a',
      invocationId: 'i',
      timestamp: 1,
      content: { role: 'model', parts: [{ text }] },
      ...(partial ? { partial } : {}),
    },
  })
  const lease = await log.acquire(id, run, 'me', 1000)
  const events: readonly RunEvent[] = [
    { kind: 'run.started', agent: 'a', input: { messages: [] } },
    ...Array.from({ length: words }, (_, i) => said(`word${i} `, true)),
    said('all the words', false),
    { kind: 'run.finished', outcome: 'done' },
  ]
  await log.append(
    id,
    events.map((event) => ({ run, event })),
    lease,
  )
  await log.release(lease)
}

/** What a server can read of a store. */
async function contents(log: EventLog) {
  const { sessions: list, total } = await log.list({ limit: 500 })
  const byId = [...list].sort((a, b) => (a.id < b.id ? -1 : 1))
  const each = []
  for (const info of byId)
    each.push({ info, rows: await log.readRaw?.(info.id, { after: 0 }), facts: await log.facts(info.id) })
  const scope = { user: 'ann', agent: 'a' }
  return {
    total,
    each,
    state: await log.sharedState(scope),
    artifacts: await log.sharedArtifacts(scope),
    found: (await log.search({ ...scope, text: 'words', limit: 500 }))
      .map(({ session, row }) => `${session} ${row.seq}`)
      .sort(),
    dead: [...(await log.expired())].sort((a, b) => (a.run < b.run ? -1 : 1)),
    secret: Buffer.from(log.secret ?? []).toString('hex'),
  }
}
async function contentsOf(store: string) {
  const log = store.startsWith('postgres')
    ? await postgresLog({ url: store, connections: 2 })
    : await sqliteLog({ folder: store, now: Date.now })
  try {
    return await contents(log)
  } finally {
    await log.close()
  }
}

function start(args: readonly string[], flags: readonly string[] = []): ChildProcess {
  return spawn(process.execPath, [...flags, packedMain, 'move', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH },
  })
}
async function move(args: readonly string[], flags: readonly string[] = []) {
  const child = start(args, flags)
  let [out, err] = ['', '']
  child.stdout?.on('data', (text) => (out += String(text)))
  child.stderr?.on('data', (text) => (err += String(text)))
  const [code] = await once(child, 'close')
  return { code: Number(code), out, err }
}

test('a store moves into PostgreSQL and back, goes on after SIGKILL both ways, and is the same', async () => {
  const url = await database('home')
  const before = await contentsOf(home)
  expect(before.total).toBe(sessions + 4)
  // An uncommitted session of the same id holds the move in the middle.
  const holder = new pg.Client(url)
  await holder.connect()
  const empty = await postgresLog({ url, connections: 1 })
  await empty.close()
  await holder.query('BEGIN')
  await holder.query(`SET search_path TO millrace`)
  await holder.query(
    `INSERT INTO session (id, born, version, stamp, user_name, agent, title, search, status, last_seq, events, runs,
       created_at, updated_at, epoch, leases, owners, abandoned, partials, widest, size)
     VALUES ('s20', '', 0, '', '', '', '', '', 'idle', 0, 0, 0, 0, 0, 0, '[]', '{}', false, 0, 0, 0)`,
  )
  const first = start(['--from', home, '--to', url])
  const waiting = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'millrace move' AND wait_event_type = 'Lock'`
  await expect.poll(async () => (await admin.query<{ n: number }>(waiting)).rows[0]?.n).toBe(1)
  first.kill('SIGKILL')
  await once(first, 'exit')
  await holder.query('ROLLBACK')
  const half = await holder.query<{ n: number }>('SELECT count(*)::int AS n FROM millrace.session')
  const kept = half.rows[0]?.n ?? 0
  expect(kept).toBeGreaterThan(10)
  expect(kept).toBeLessThan(before.total)

  const second = await move(['--from', home, '--to', url, '--json'])
  expect(second).toMatchObject({ code: 0, err: '' })
  const moved = JSON.parse(second.out)
  expect(moved).toMatchObject({ sessions: before.total, already: kept, values: 1, artifacts: 3, secret: true })
  expect(await contentsOf(url)).toEqual(before)
  // The rows of forks are shared there, too, except where SQLite had rows without a session.
  const { rows } = await holder.query<{ id: string }>(`SELECT id FROM millrace.session WHERE parts <> '[]' ORDER BY id`)
  expect(rows.map(({ id }) => id)).toEqual(['a fork of the fork', 'fork'])

  const back = join(folder, 'back')
  await holder.query('BEGIN; LOCK TABLE millrace.shared_state')
  const third = start(['--from', url, '--to', back])
  await expect.poll(async () => (await admin.query<{ n: number }>(waiting)).rows[0]?.n).toBe(1)
  third.kill('SIGKILL')
  await once(third, 'exit')
  await holder.query('ROLLBACK')
  const fourth = await move(['--from', url, '--to', join(back, 'millrace.db')])
  expect(fourth.code).toBe(0)
  expect(fourth.err).toContain('checked 100 %')
  expect(fourth.out).toContain(`Moved ${before.total} sessions`)
  expect(fourth.out).toContain(moved.sha256)
  expect(await contentsOf(back)).toEqual(before)
  // Once more changes nothing.
  expect(JSON.parse((await move(['--from', back, '--to', url, '--json'])).out)).toMatchObject({ already: before.total })
  await holder.end()
})

test('what would lose or mix something is refused in one sentence', async () => {
  const url = await database('taken')
  const log = await postgresLog({ url, connections: 2 })
  await log.create({ id: 'other', user: 'u', agent: 'a' })
  const refused = await move(['--from', home, '--to', url])
  expect(refused).toMatchObject({ code: 1, out: '' })
  expect(refused.err).toContain('1 other sessions; choose an empty target, or add --merge')
  // A server has the source.
  expect((await move(['--from', url, '--to', join(folder, 'x')])).err).toContain('a server uses it')
  const open = await sqliteLog({ folder: home, now: Date.now })
  const locked = await move(['--from', home, '--to', url, '--merge'])
  expect(locked).toMatchObject({ code: 1, out: '' })
  expect(locked.err).toContain('another process has it open')
  await open.close()

  const secret = log.secret
  expect((await move(['--from', home, '--to', url, '--merge'])).code).toBe(0)
  expect((await log.list({ limit: 500 })).total).toBe(sessions + 5)
  await log.close()
  const again = await postgresLog({ url, connections: 2 })
  expect(again.secret).toEqual(secret) // its own sessions need it
  await again.rename('s01', 'changed')
  await again.close()
  const differs = await move(['--from', home, '--to', url, '--merge'])
  expect(differs).toMatchObject({ code: 1, out: '' })
  expect(differs.err).toContain('session s01 is in both stores and differs')
})

const tooLarge = async (): Promise<void> => {
  const large = join(folder, 'large')
  const log = await sqliteLog({ folder: large, now: Date.now })
  await log.create({ id: 's', user: 'u', agent: 'a' })
  const event: RunEvent = { kind: 'log', level: 'info', message: 'x'.repeat(4000) }
  for (let i = 0; i < 60; i++)
    await log.append(
      's',
      Array.from({ length: 1000 }, () => ({ run: '', event })),
    )
  await log.close()
  const url = await database('large')
  const small = ['--max-old-space-size=64', '--max-semi-space-size=2']
  expect(await move(['--from', large, '--to', url, '--json'], small)).toMatchObject({ code: 0, err: '' })
  expect(await move(['--from', url, '--to', join(folder, 'small'), '--json'], small)).toMatchObject({
    code: 0,
    err: '',
  })
}
if (full) test('a session larger than the heap moves both ways', tooLarge)
