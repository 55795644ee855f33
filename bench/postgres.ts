import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Draft, EventLog } from '@millrace/core'
import { postgresLog, sqliteLog } from '@millrace/server'
import pg from 'pg'
import { processStat } from '../scripts/process-stat.mjs'
import { type Postgres, startPostgres } from '../test/kit/postgres.ts'
import { type Row, sideBySideAsync } from './kit/row.ts'

/**
 * The log on PostgreSQL against a bare `pg` loop of the same writes, a run against SQLite, the way from one replica to
 * another, and several replicas on one database. The server of the tests does not wait for its disk (`fsync=off`), so the
 * processor is what is measured.
 */
export async function bench(): Promise<Row[]> {
  const postgres = await startPostgres()
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  try {
    const log = await postgresLog({ url: postgres.url, schema: 'ours', connections: 4 })
    const rows: Row[] = []
    for (const batch of [1, 10, 100]) rows.push(await append(log, postgres.url, batch))
    rows.push(await runs(log, folder))
    await log.close()
    for (const doorbell of ['notify', 'poll'] as const) rows.push(await delivery(postgres.url, doorbell))
    rows.push(...(await throughput(postgres)))
    return rows
  } finally {
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const draftsOf = (count: number): readonly Draft[] =>
  Array.from({ length: count }, (_, i) => ({
    run: '',
    event: { kind: 'log', level: 'info', message: `event ${i} ${'x'.repeat(200)}` },
  }))

async function append(log: EventLog, url: string, batch: number): Promise<Row> {
  const id = `append ${batch}`
  await log.create({ id, user: 'u', agent: 'a' })
  const client = new pg.Client(url)
  await client.connect()
  const table = `bare_${batch}`
  await client.query(
    `CREATE TABLE ${table} (session text, seq bigint, at float8, run text, body text, PRIMARY KEY (session, seq))`,
  )
  await client.query(
    `CREATE TABLE ${table}_head (session text PRIMARY KEY, last_seq bigint, leases text) WITH (fillfactor = 50)`,
  )
  await client.query(`INSERT INTO ${table}_head VALUES ('s', 0, '[]')`)
  const drafts = draftsOf(batch)
  let last = 0
  const bare = async (): Promise<void> => {
    const from = last
    last += batch
    await client.query(
      `WITH head AS (UPDATE ${table}_head SET last_seq = $1 WHERE session = 's' AND last_seq = $2 RETURNING session)
       INSERT INTO ${table} SELECT session, e.* FROM head, unnest($3::bigint[], $4::float8[], $5::text[], $6::text[]) e`,
      [
        last,
        from,
        drafts.map((_, i) => from + i + 1),
        drafts.map(() => Date.now()),
        drafts.map(({ run }) => run),
        drafts.map(({ event }) => JSON.stringify(event)),
      ],
    )
  }
  const rounds = 20
  const times = async (work: () => Promise<unknown>): Promise<void> => {
    for (let i = 0; i < rounds; i++) await work()
  }
  await times(bare)
  await times(() => log.append(id, drafts))
  const { ours, peer, ratio } = await sideBySideAsync(
    () => times(() => log.append(id, drafts)),
    () => times(bare),
    41,
  )
  await client.end()
  const perSecond = (ms: number): number => (batch * rounds * 1000) / ms
  return {
    what: `append on PostgreSQL, ${batch} to a statement, one session, events/s`,
    ours: perSecond(ours),
    peer: 'a bare pg loop of the same writes',
    peerValue: perSecond(peer),
    limit: 'one round trip',
    ratio: 1 / ratio,
    bar: '>= 0.7',
    ok: 1 / ratio >= 0.7,
  }
}

/** A run of 50 tokens, each in a commit of its own, from its lease to its release. */
async function runs(postgres: EventLog, folder: string): Promise<Row> {
  const sqlite = await sqliteLog({ folder, now: Date.now })
  let count = 0
  const run = async (log: EventLog): Promise<void> => {
    const id = `run ${count++}`
    await log.create({ id, user: 'u', agent: 'a' })
    const lease = await log.acquire(id, 'r', 'me', 15_000)
    const put = (event: Draft['event']) => log.append(id, [{ run: 'r', event }], lease)
    await put({ kind: 'run.started', agent: 'a', input: { messages: [] } })
    for (const { event } of draftsOf(50)) await put(event)
    await put({ kind: 'run.finished', outcome: 'done' })
    await log.release(lease)
  }
  const { ours, peer, ratio } = await sideBySideAsync(
    () => run(postgres),
    () => run(sqlite),
    21,
  )
  await sqlite.close()
  return {
    what: 'a run of 50 tokens in commits of their own, ms',
    ours,
    peer: 'the same run on SQLite (one fsync for each commit)',
    peerValue: peer,
    limit: '55 round trips',
    ratio,
    bar: '<= 5',
    ok: ratio <= 5,
  }
}

/** From the call of an append at one replica to the row in the hands of a reader at another one. */
async function delivery(url: string, doorbell: 'notify' | 'poll'): Promise<Row> {
  const schema = `delivery ${doorbell}`
  const [a, b] = [await postgresLog({ url, schema, doorbell }), await postgresLog({ url, schema, doorbell })]
  await a.create({ id: 's', user: 'u', agent: 'a' })
  const sent: number[] = []
  const took: number[] = []
  const stop = new AbortController()
  const many = 300
  const reading = (async () => {
    for await (const rows of b.follow('s', { after: 0, signal: stop.signal })) {
      const now = performance.now()
      for (const { seq } of rows) took.push(now - (sent[seq] ?? now))
      if (took.length >= many) stop.abort()
    }
  })()
  for (let seq = 1; seq <= many; seq++) {
    sent[seq] = performance.now()
    await a.append('s', draftsOf(1))
    await new Promise((resolve) => setTimeout(resolve, 5 + (seq % 10) * 3))
  }
  await reading
  await Promise.all([a.close(), b.close()])
  const sorted = took.toSorted((x, y) => x - y)
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN
  const bar = doorbell === 'notify' ? 250 : 1000
  return {
    what: `one event from one replica to a reader at another, by ${doorbell}, p99 in ms`,
    ours: at(0.99),
    peer: 'p50',
    peerValue: at(0.5),
    limit: 'commit, NOTIFY and read: three round trips',
    ratio: at(0.99) / bar,
    bar: `<= 1 (${bar} ms)`,
    ok: at(0.99) <= bar,
  }
}

const child = fileURLToPath(new URL('./postgres-replica.mjs', import.meta.url))
const measured = 5_000

/** Replicas as processes, 16 sessions each, ten events to a statement. */
async function throughput({ url }: Postgres): Promise<readonly Row[]> {
  const rows: Row[] = []
  let alone = 0
  for (const count of [1, 2, 3]) {
    const schema = `throughput ${count}`
    const log = await postgresLog({ url, schema })
    await log.close()
    const replicas = Array.from({ length: count }, (_, i) => {
      const replica = spawn(process.execPath, [child, url, schema, `r${i}`, `${measured}`], {
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      return { replica, lines: createInterface(replica.stdout)[Symbol.asyncIterator]() }
    })
    for (const { lines } of replicas) await lines.next()
    const before = databaseCpu()
    for (const { replica } of replicas) replica.stdin.write('go\n')
    const results = await Promise.all(
      replicas.map(
        async ({ lines }) => JSON.parse(String((await lines.next()).value)) as { events: number; cpu: number },
      ),
    )
    const database = (databaseCpu() - before) / measured
    await Promise.all(replicas.map(({ replica }) => (replica.exitCode === null ? once(replica, 'exit') : undefined)))
    const events = (results.reduce((sum, each) => sum + each.events, 0) * 1000) / measured
    const servers = results.reduce((sum, each) => sum + each.cpu, 0) / measured
    if (count === 1) alone = events
    rows.push({
      what: `throughput of ${count} ${count === 1 ? 'replica' : 'replicas'} on one database, events/s`,
      ours: events,
      peer: 'one replica',
      peerValue: alone,
      limit: `cores in use: database ${database.toFixed(2)}, replicas ${servers.toFixed(2)}`,
      ratio: events / alone,
      bar: '>= 0.7',
      ok: events / alone >= 0.7,
    })
  }
  return rows
}

/** Milliseconds of processor time of all PostgreSQL processes that live; NaN where there is no /proc. */
function databaseCpu(): number {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .reduce((sum, pid) => {
        const stat = processStat(pid)
        return stat?.name === 'postgres' ? sum + stat.own : sum
      }, 0)
  } catch {
    return Number.NaN
  }
}
