import type { EventLog, FoundPage } from '@millrace/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Postgres, startPostgres } from '../../../../../test/kit/postgres.ts'
import { pgConnect } from './connection.ts'
import { type PostgresLog, postgresLog } from './index.ts'

let postgres: Postgres
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres.stop())

const open = (schema: string): Promise<PostgresLog> => postgresLog({ url: postgres.url, schema, connections: 3 })
async function untilIndexed(log: EventLog, text: string): Promise<FoundPage> {
  for (;;) {
    const page = await log.find({ user: 'ann', text, limit: 100 })
    if (page.indexing === undefined) return page
  }
}
async function filled(log: EventLog, id: string, rows: number): Promise<void> {
  await log.create({ id, user: 'ann', agent: 'a' })
  const event = (i: number) => ({ kind: 'log', level: 'error', message: `anchor ${i}` }) as const
  await log.append(
    id,
    Array.from({ length: rows }, (_, i) => ({ run: '', event: event(i) })),
  )
}
const places = ({ found }: FoundPage): readonly string[] => found.map(({ session, seq }) => `${session} ${seq}`).sort()

test('a schema of an earlier version is indexed, and so is one whose words are of another version', async () => {
  const first = await open('old find')
  await filled(first, 's', 450)
  await first.close()
  const raw = pgConnect({ url: postgres.url, schema: 'old find', connections: 1, patience: 0 })
  await raw.query(`DROP TABLE found_text; ALTER TABLE session DROP COLUMN found_to, DROP COLUMN found_version;
    DELETE FROM migration WHERE version = 4`)
  const second = await open('old find')
  expect(places(await untilIndexed(second, 'anchor 449'))).toEqual(['s 450'])
  await raw.query('UPDATE session SET found_version = 999')
  expect(places(await untilIndexed(second, 'anchor 7'))).toContain('s 8')
  expect((await raw.query('SELECT count(*) FROM found_text'))[0]?.[0]).toBe(450)
  await second.close()
  await raw.close()
})

test('two replicas that search at once index each row once, while a third party removes a session', async () => {
  const [one, two] = await Promise.all([open('both find'), open('both find')])
  await filled(one, 'stays', 600)
  await filled(one, 'goes', 600)
  await Promise.all([untilIndexed(one, 'anchor'), untilIndexed(two, 'anchor'), one.remove('goes')])
  const raw = pgConnect({ url: postgres.url, schema: 'both find', connections: 1, patience: 0 })
  expect(await raw.query('SELECT session, count(*) FROM found_text GROUP BY session')).toEqual([['stays', 600]])
  for (const log of [one, two])
    expect(places(await log.find({ user: 'ann', text: 'anchor 599' }))).toEqual(['stays 600'])
  await raw.close()
  await Promise.all([one.close(), two.close()])
})
