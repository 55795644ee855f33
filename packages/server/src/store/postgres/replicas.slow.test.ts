import { type Draft, type EventLog, MillraceError, type Recorded } from '@millrace/core'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Postgres, startPostgres } from '../../../../../test/kit/postgres.ts'
import { type PostgresLogOptions, postgresLog } from './index.ts'

let postgres: Postgres
let admin: pg.Client
beforeAll(async () => {
  postgres = await startPostgres()
  admin = await newAdmin()
})
afterAll(async () => {
  await admin.end()
  await postgres.stop()
})
async function newAdmin(): Promise<pg.Client> {
  const client = new pg.Client(postgres.url)
  client.on('error', () => undefined) // the server restarts in one of the tests
  await client.connect()
  return client
}

let schemas = 0
const open: EventLog[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((log) => log.close()))
})
/** Logs on one schema, as so many replicas have them. */
async function replicas(count: number, more: Partial<PostgresLogOptions> = {}): Promise<readonly EventLog[]> {
  const schema = `replicas ${schemas++}`
  const logs = await Promise.all(
    Array.from({ length: count }, () => postgresLog({ url: postgres.url, schema, connections: 3, ...more })),
  )
  open.push(...logs)
  return logs
}
async function two(more: Partial<PostgresLogOptions> = {}): Promise<readonly [EventLog, EventLog]> {
  const [a, b] = await replicas(2, more)
  if (a === undefined || b === undefined) throw new Error('two logs')
  await a.create({ id: 's', user: 'u', agent: 'a' })
  return [a, b]
}

const note = (run: string, message: string): Draft => ({ run, event: { kind: 'log', level: 'info', message } })
const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'resolved',
    (error: unknown) => (error instanceof MillraceError ? error.code : error),
  )
async function readTo(log: EventLog, last: number, onRows = () => {}): Promise<readonly Recorded[]> {
  const rows: Recorded[] = []
  for await (const page of log.follow('s', { after: 0, signal: new AbortController().signal })) {
    rows.push(...page)
    if (rows.length > 0) onRows()
    if (rows.at(-1)?.seq === last) return rows
  }
  return rows
}

describe.each(['notify', 'poll'] as const)('two replicas, which hear of each other by %s', (doorbell) => {
  test('each follows what the other writes, without gap or duplicate', async () => {
    const [a, b] = await two({ doorbell })
    const readers = [a, b, a, b].map((log) => readTo(log, 200))
    for (let i = 0; i < 50; i++)
      await Promise.all([
        a.append('s', [note('', `a${i}`), note('', 'x')]),
        b.append('s', [note('', `b${i}`), note('', 'y')]),
      ])
    const all = await a.read('s', { after: 0 })
    expect(all.map(({ seq }) => seq)).toEqual(Array.from({ length: 200 }, (_, i) => i + 1))
    for (const rows of await Promise.all(readers)) expect(rows).toEqual(all)
  })

  test('the followers of a session end when the other replica removes it', async () => {
    const [a, b] = await two({ doorbell })
    let reader: Promise<readonly Recorded[]> = Promise.resolve([])
    await a.append('s', [note('', 'one')])
    // A reader that comes after the removal is refused; this one is there before.
    await new Promise<void>((resolve) => {
      reader = readTo(b, 5, resolve)
    })
    await a.remove('s')
    expect((await reader).length).toBe(1)
    expect(await codeOf(b.read('s', { after: 0 }))).toBe('not-found')
  })
})

describe('SPEC 2.7: leases across replicas', () => {
  test('one of two that acquire at once has the run; the other one is refused with what it finds', async () => {
    const [a, b] = await two()
    const codes = await Promise.all([codeOf(a.acquire('s', 'r1', 'a', 1000)), codeOf(b.acquire('s', 'r2', 'b', 1000))])
    expect(codes.toSorted()).toEqual(['busy', 'resolved'])
  })

  test('a replica whose run was taken over is refused, also in the middle of a stream', async () => {
    const [a, b] = await two()
    const lease = await a.acquire('s', 'r', 'a', 60_000)
    await a.append('s', [note('r', 'mine')], lease)
    const heir = await b.takeOver(lease, 'b', 60_000)
    expect(await codeOf(a.append('s', [note('r', 'late')], lease))).toBe('lease-lost')
    expect(await codeOf(a.renew(lease, 1000))).toBe('lease-lost')
    await b.append('s', [note('r', 'theirs')], heir)
    expect((await a.read('s', { after: 0 })).map(({ event }) => event.kind === 'log' && event.message)).toEqual([
      'mine',
      'theirs',
    ])
  })

  test.each(['notify', 'poll'] as const)(
    'the holder hears by %s that another replica wrote, not that it did itself',
    async (doorbell) => {
      const [a, b] = await two({ doorbell })
      const lease = await a.acquire('s', 'r', 'a', 60_000)
      let heard = 0
      const changed = new Promise<void>((resolve) => {
        a.watch?.('s', () => {
          heard += 1
          resolve()
        })
      })
      await a.append('s', [note('r', 'mine')], lease)
      const before = heard
      const heir = await b.takeOver(lease, 'b', 60_000)
      await b.append('s', [note('r', 'end')], heir)
      await changed
      expect(doorbell === 'notify' ? before : 0).toBe(0)
      expect(await codeOf(a.renew(lease, 1000))).toBe('lease-lost')
    },
  )

  test('a clock of a replica that is an hour wrong changes nothing: the database has the clock', async () => {
    const [a] = await two()
    const lease = await a.acquire('s', 'r', 'a', 60_000)
    const [[now] = []] = (await admin.query({ text: 'SELECT extract(epoch FROM now()) * 1000', rowMode: 'array' })).rows
    expect(Math.abs(lease.until - 60_000 - Number(now))).toBeLessThan(30_000)
    expect(await a.expired()).toEqual([])
  })

  test('of eight replicas that recover a dead run, one wins', async () => {
    const [a, ...others] = await replicas(8)
    await a?.create({ id: 's', user: 'u', agent: 'a' })
    // It ended a minute ago: what the replicas take for the time of the database differs by some milliseconds.
    await a?.acquire('s', 'r', 'dead', -60_000)
    const won = await Promise.all(
      others.map(async (log, i) => {
        const [dead] = await log.expired()
        return dead === undefined ? 'nothing' : codeOf(log.takeOver(dead, `${i}`, 60_000))
      }),
    )
    expect(won.filter((code) => code === 'resolved')).toHaveLength(1)
  })
})

describe('counts for limits', () => {
  test('are bounded over all replicas, and begin again with the next window', async () => {
    let now = 120_000
    const logs = await replicas(2, { now: () => now })
    const take = async (): Promise<number> => {
      const granted = await Promise.all(
        Array.from({ length: 20 }, (_, i) => logs[i % 2]?.allot?.('writes/ada', 7, 100, 60_000)),
      )
      expect(granted.map((one) => one?.left)).toEqual(Array.from({ length: 20 }, () => 180_000 - now))
      return granted.reduce((sum, one) => sum + (one?.granted ?? 0), 0)
    }
    expect(await take()).toBe(100)
    now = 150_000
    expect(await take()).toBe(0)
    expect(await logs[0]?.allot?.('writes/bob', 7, 5, 60_000)).toEqual({ granted: 5, count: 5, left: 30_000 })
    now = 180_000
    expect(await logs[0]?.allot?.('writes/ada', 7, 100, 60_000)).toEqual({ granted: 7, count: 7, left: 60_000 })
    // A replica whose statement is late does not begin the window of before again.
    now = 179_000
    expect(await logs[1]?.allot?.('writes/ada', 7, 100, 60_000)).toMatchObject({ granted: 7, count: 14 })
  })
})

describe('a database that comes and goes', () => {
  test('connections that break in the middle of appends lose and double nothing', async () => {
    const [a, b] = await two({ patience: 60_000 })
    let over = false
    const breaking = (async () => {
      while (!over) {
        await admin.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'millrace' AND random() < 0.5`,
        )
      }
    })()
    const said = await Promise.all(
      [a, b].flatMap((log, who) =>
        Array.from({ length: 40 }, async (_, i) => {
          await log.append('s', [note('', `${who}-${i}`), note('', `${who}-${i}+`)])
          return `${who}-${i}`
        }),
      ),
    )
    over = true
    await breaking
    const rows = await a.read('s', { after: 0 })
    const heard = rows.flatMap(({ event }) =>
      event.kind === 'log' && !event.message.endsWith('+') ? [event.message] : [],
    )
    expect(heard.toSorted()).toEqual(said.toSorted())
    expect(rows).toHaveLength(2 * said.length)
  })

  test('a restart is waited for: an append and a follower go on after it', async () => {
    const [a, b] = await two({ patience: 60_000 })
    const reader = readTo(b, 3)
    await a.append('s', [note('', 'before')])
    await postgres.restart()
    admin = await newAdmin()
    await a.append('s', [note('', 'after'), note('', 'again')])
    expect((await reader).map(({ event }) => event.kind === 'log' && event.message)).toEqual([
      'before',
      'after',
      'again',
    ])
  })

  test('one that stays away is reported in a sentence', async () => {
    const [a] = await two({ patience: 200 })
    await postgres.restart(async () => {
      const away = { code: 'store-failed', facts: { reason: 'unreachable' } }
      await expect(a.append('s', [note('', 'lost')])).rejects.toMatchObject(away)
      await expect(a.read('s', { after: 0 })).rejects.toMatchObject(away)
    })
    admin = await newAdmin()
    await a.append('s', [note('', 'back')])
    const rows = await a.read('s', { after: 0 })
    expect(rows.map(({ event }) => event.kind === 'log' && event.message)).toEqual(['back'])
  })
})

describe('the schema', () => {
  test('is made once by replicas that start at once', async () => {
    expect((await replicas(8)).length).toBe(8)
  })

  test('of a newer version is refused and left as it is', async () => {
    const schema = 'from the future'
    const log = await postgresLog({ url: postgres.url, schema })
    await log.close()
    await admin.query(`INSERT INTO "${schema}".migration VALUES (999, 1)`)
    await expect(postgresLog({ url: postgres.url, schema })).rejects.toMatchObject({
      code: 'store-failed',
      facts: { reason: 'newer' },
      message: expect.stringContaining('upgrade this one'),
    })
    const { rows } = await admin.query(`SELECT max(version) AS newest FROM "${schema}".migration`)
    expect(rows).toEqual([{ newest: 999 }])
  })
})

describe('what cannot be opened is refused with one sentence, without the password', () => {
  beforeAll(async () => {
    await admin.query(`CREATE ROLE picky LOGIN PASSWORD 'secret'`)
    await admin.query('CREATE ROLE poor LOGIN')
    await admin.query('CREATE ROLE single LOGIN CONNECTION LIMIT 0')
  })
  const at = (
    change: Partial<Pick<URL, 'port' | 'hostname' | 'username' | 'password' | 'pathname' | 'search'>>,
  ): string => Object.assign(new URL(postgres.tcp), change).href
  test.each([
    ['a port without a server', 'unreachable', () => at({ port: '1' })],
    ['a host that does not exist', 'unreachable', () => at({ hostname: 'nowhere.invalid' })],
    ['a wrong password', 'password', () => at({ username: 'picky', password: 'wrong-secret' })],
    ['no password', 'password', () => at({ username: 'picky' })],
    ['an unknown database', 'database', () => at({ pathname: '/nothing' })],
    ['TLS that the server does not have', 'tls', () => at({ search: '?sslmode=require' })],
    ['a user who may not write', 'read-only', () => at({ username: 'poor' })],
    ['no free connection', 'connections', () => at({ username: 'single' })],
    ['no URL', 'address', () => 'postgresql//nowhere'],
  ])('%s', async (_name, reason, url) => {
    const refused = await postgresLog({ url: url(), schema: 'not made' }).then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(refused).toMatchObject({ code: 'store-failed', facts: { reason } })
    expect(String(refused)).not.toContain('secret')
    const { rows } = await admin.query(`SELECT to_regnamespace('"not made"') AS made`)
    expect(rows).toEqual([{ made: null }])
  })
})
