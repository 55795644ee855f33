import type { PgConnection } from './connection.ts'

/**
 * The clock of the database, so that leases of all replicas are judged by one clock. Between two readings it goes on by
 * this machine's steady clock: setting the time of the machine changes nothing.
 */
export interface DatabaseClock {
  now(): number
  read(): Promise<void>
}

export async function databaseClock(
  { query }: Pick<PgConnection, 'query'>,
  steady: () => number = () => performance.now(),
): Promise<DatabaseClock> {
  let offset = 0
  const read = async (): Promise<void> => {
    const sent = steady()
    const [[at] = []] = await query('SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint')
    const answered = steady()
    offset = Number(at) - (sent + answered) / 2
  }
  await read()
  return { now: () => Math.round(offset + steady()), read }
}
