import { startPostgres } from './postgres.ts'

const variable = 'MILLRACE_TEST_DATABASE_URL'

/** The database that the servers of tests use in this run; undefined: each has a log in memory. */
export function testDatabase(): string | undefined {
  return process.env[variable] || undefined
}

/** Before all tests of a project: one PostgreSQL for all of them, where MILLRACE_TEST_DATABASE=on asks for it. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.MILLRACE_TEST_DATABASE !== 'on') return undefined
  const postgres = await startPostgres()
  process.env[variable] = postgres.url
  return async () => {
    delete process.env[variable]
    await postgres.stop()
  }
}
