import { type EventLog, forkSession } from '@millrace/core'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Postgres, startPostgres } from '../../../../../test/kit/postgres.ts'
import { postgresLog } from './index.ts'

let postgres: Postgres
let admin: pg.Client
beforeAll(async () => {
  postgres = await startPostgres()
  admin = new pg.Client(postgres.url)
  await admin.connect()
})
afterAll(async () => {
  await admin.end()
  await postgres.stop()
})

const open = (schema: string, owned?: boolean): Promise<EventLog> =>
  postgresLog({ url: postgres.url, schema, connections: 4, ...(owned === undefined ? {} : { owned }) })
const note = (message: string) => ({ run: '', event: { kind: 'log', level: 'info', message } as const })
async function fill(log: EventLog, id: string, count: number): Promise<void> {
  for (let i = 0; i < count; i += 500)
    await log.append(
      id,
      Array.from({ length: Math.min(500, count - i) }, (_, j) => note(`${id} ${i + j}`)),
    )
}
async function countOf(sql: string): Promise<number> {
  const { rows } = await admin.query<{ count: string }>(sql)
  return Number(rows[0]?.count)
}

test('forks share rows, in a chain too, and one of them inherits those of a removed session', async () => {
  const log = await open('shares')
  await log.create({ id: 's', user: 'u', agent: 'a' })
  await fill(log, 's', 1000)
  for (let i = 0; i < 5; i++)
    await forkSession(log, i === 0 ? 's' : `f${i - 1}`, 1000 + i, `f${i}`).then(() => fill(log, `f${i}`, 1))
  expect(await countOf('SELECT count(*) FROM shares.event')).toBe(1005)
  const rows = await log.read('f4', { after: 0 })
  expect(rows.map(({ seq }) => seq)).toEqual(Array.from({ length: 1005 }, (_, i) => i + 1))
  for (const id of ['f2', 's', 'f0', 'f3', 'f1']) {
    await log.remove(id)
    expect(await log.read('f4', { after: 0 }), `after the removal of ${id}`).toEqual(rows)
  }
  expect(await countOf('SELECT count(*) FROM shares.event')).toBe(1005)
  await log.remove('f4')
  for (const table of ['event', 'shared_rows', 'session', 'checkpoint'])
    expect(await countOf(`SELECT count(*) FROM shares.${table}`), table).toBe(0)
  await log.close()
})

test('a fork is read whole, and made whole, while another replica removes its origin', async () => {
  const [a, b] = [await open('races'), await open('races')]
  for (let round = 0; round < 8; round++) {
    const id = `s${round}`
    await a.create({ id, user: 'u', agent: 'a' })
    await fill(a, id, 1500)
    await forkSession(a, id, 1400, `${id}-f`)
    const reads = Array.from({ length: 4 }, () => a.read(`${id}-f`, { after: 0 }))
    const fork = forkSession(a, `${id}-f`, 1300, `${id}-g`)
    await b.remove(id)
    for (const rows of await Promise.all(reads)) expect(rows).toHaveLength(1400)
    await fork
    expect(await b.read(`${id}-g`, { after: 0 })).toEqual((await b.read(`${id}-f`, { after: 0 })).slice(0, 1300))
  }
  await Promise.all([a.close(), b.close()])
})

test('forks keep their rows when sessions get the keys of users, and when they lose them', async () => {
  const first = await open('keys', false)
  await first.create({ id: 's', user: 'u', agent: 'a' })
  await fill(first, 's', 10)
  await forkSession(first, 's', 8, 'f')
  const rows = await first.read('f', { after: 0 })
  await first.close()
  const owned = await open('keys', true)
  expect(await owned.read('u\u001ff', { after: 0 })).toEqual(rows)
  await owned.remove('u\u001fs')
  expect(await owned.read('u\u001ff', { after: 0 })).toEqual(rows)
  await owned.close()
  const again = await open('keys', false)
  expect(await again.read('f', { after: 0 })).toEqual(rows)
  await again.close()
})
