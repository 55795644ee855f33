import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Postgres, startPostgres } from '../../../../../test/kit/postgres.ts'
import { bigints, doubles, smallints, texts } from './binary-lists.ts'
import { type PgConnection, pgConnect, prepared } from './connection.ts'

let postgres: Postgres
let connection: PgConnection
beforeAll(async () => {
  postgres = await startPostgres()
  connection = pgConnect({ url: postgres.url, schema: 'public', connections: 1, patience: 0 })
})
afterAll(async () => {
  await connection.close()
  await postgres.stop()
})

test('a connection plans a prepared statement once', async () => {
  const statement = prepared('SELECT $1::int + 1')
  for (const value of [1, 2, 3]) expect(await connection.once(statement, [value])).toEqual([[value + 1]])
  expect(await connection.once('SELECT name FROM pg_prepared_statements')).toEqual([[statement.name]])
})

test('behind a pooler that changes connections, statements are sent without their names', async () => {
  const statement = prepared('SELECT $1::int + 2')
  expect(await connection.once(statement, [1])).toEqual([[3]])
  await connection.once('DEALLOCATE ALL') // as the next connection of a pooler: it knows none of our names
  expect(await connection.once(statement, [2])).toEqual([[4]])
  expect(await connection.once(statement, [3])).toEqual([[5]])
  expect(await connection.once('SELECT count(*) FROM pg_prepared_statements')).toEqual([[0]])
})

test('lists in the binary format arrive as they were', async () => {
  const words = ['', 'a "quote" and a \\', '{"key":[null,1.5]}', 'Größe 🙂\n', null, 'NULL', '\ud800']
  const [row] = await connection.once(
    'SELECT to_json($1::bigint[])::text, to_json($2::float8[])::text, to_json($3::smallint[])::text, $4::text[]',
    [bigints([1, -1, 2 ** 52 + 1]), doubles([0.25, 1_700_000_000_000.5]), smallints([0, 255, -7]), texts(words)],
  )
  expect(row?.slice(0, 3).map((text) => JSON.parse(String(text)))).toEqual([
    [1, -1, 2 ** 52 + 1],
    [0.25, 1_700_000_000_000.5],
    [0, 255, -7],
  ])
  // Half a pair of surrogates has no UTF-8: it is stored as U+FFFD, as by every other way into PostgreSQL.
  expect(row?.[3]).toEqual(words.map((word) => (word === '\ud800' ? '\ufffd' : word)))
})

test('a statement that waits for a free connection waits for its turn, not for as long as a new connection may take', async () => {
  const few = pgConnect({ url: postgres.url, schema: 'public', connections: 1, patience: 0, connectTimeout: 200 })
  // A busy machine may need longer than that for the one connection.
  await expect.poll(() => few.reachable().then(String, () => 'late')).toBe('undefined')
  const slow = few.transaction((query) => query('SELECT pg_sleep(1)'))
  expect(await few.once('SELECT 1')).toEqual([[1]])
  await slow
  await few.close()
})
