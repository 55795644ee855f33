import { randomUUID } from 'node:crypto'
import { type EventLog, MillraceError } from '@millrace/core'
import { newTails } from '../tail.ts'
import { pgAllot } from './allot.ts'
import { databaseClock } from './clock.ts'
import { type PgConnection, pgConnect } from './connection.ts'
import { doorbell } from './doorbell.ts'
import { postgresFacts } from './facts.ts'
import { asPostgresFailure } from './failure.ts'
import { postgresFind } from './find.ts'
import { postgresReads } from './read.ts'
import { readStarts } from './read-starts.ts'
import { pgMigrate } from './schema.ts'
import { postgresSearch } from './search.ts'
import { schemaSecret } from './secret.ts'
import { keyPgSessions } from './session-keys.ts'
import { sessionQueue } from './session-queue.ts'
import { pgSharedReads } from './shared.ts'
import { postgresWrites } from './write.ts'

export interface PostgresLogOptions {
  /** `postgresql://user:password@host:5432/database?sslmode=require` */
  readonly url: string
  /** The schema that holds the tables; made if it is missing. */
  readonly schema?: string
  /** At most so many connections, besides one that listens. */
  readonly connections?: number
  /** How replicas tell each other of new events: by LISTEN and NOTIFY, or by looking, which works everywhere. */
  readonly doorbell?: 'notify' | 'poll'
  /** How long a call waits for a database that is gone, in ms. */
  readonly patience?: number
  /** See SqliteLogOptions. */
  readonly owned?: boolean
  /** By default the clock of the database, so that all replicas agree about leases. */
  readonly now?: () => number
}

export interface PostgresLog extends EventLog {
  readonly readRaw: NonNullable<EventLog['readRaw']>
  readonly followRaw: NonNullable<EventLog['followRaw']>
}

/** How often the clock of the database is read, in ms: two good clocks drift apart by less than 1 ms in that time. */
const clockEvery = 10_000
/** How long the database may take to say that it is there, in ms. */
const troublePatience = 2_000

/**
 * The durable log for many replicas: PostgreSQL. Appended events are committed by the server (`synchronous_commit` as it
 * is set there) before a reader sees them (SPEC 2.2). When the database cannot be opened, it rejects with `store-failed`
 * and changes nothing.
 */
export async function openPostgresLog(options: PostgresLogOptions): Promise<PostgresLog> {
  const { url, schema = 'millrace', connections = 10, patience = 10_000 } = options
  const opening = pgConnect({ url, schema, connections, patience: 0 })
  try {
    await pgMigrate(opening, schema, Date.now())
    if (options.owned !== undefined) await keyPgSessions(opening, options.owned)
  } catch (error) {
    throw asPostgresFailure(error, opening.place, 'open')
  } finally {
    await opening.close()
  }
  return logOn(options, pgConnect({ url, schema, connections, patience }))
}

async function logOn(
  { schema = 'millrace', doorbell: kind = 'notify', now: given }: PostgresLogOptions,
  connection: ReturnType<typeof pgConnect>,
): Promise<PostgresLog> {
  let closing: Promise<void> | undefined
  const checkOpen = (): void => {
    if (closing !== undefined) throw new MillraceError('unavailable', 'the log is closed')
  }
  const clock = given === undefined ? await databaseClock(connection) : undefined
  const now = given ?? (() => clock?.now() ?? 0)
  const reading =
    clock === undefined ? undefined : setInterval(() => void clock.read().catch(() => undefined), clockEvery)
  reading?.unref()
  const secret = await schemaSecret(connection.query)
  const tails = newTails()
  const bell = doorbell(
    {
      connection,
      replica: randomUUID(),
      channel: `millrace_${schema}`,
      followed: tails.followed,
      heard: tails.behind,
      removed: tails.end,
    },
    kind === 'notify',
  )
  const queue = sessionQueue({ connection, newId: randomUUID, changed: bell.ring })
  const starts = readStarts()
  const facts = postgresFacts(connection, checkOpen)
  const reads = postgresReads({ connection, tails, now, checkOpen, watch: bell.watch, starts })
  return {
    ...postgresWrites({
      connection,
      queue,
      tails,
      now,
      newId: randomUUID,
      checkOpen,
      checkpoints: facts,
      starts,
      changed: bell.ring,
    }),
    ...reads,
    facts: facts.facts,
    checkpoint: facts.checkpoint,
    secret,
    allot: pgAllot(connection, now, checkOpen),
    trouble: () => troubleOf(connection),
    watch: (session, changed) => {
      const leave = tails.watch(session, changed)
      bell.watch()
      return leave
    },
    ...pgSharedReads(connection, checkOpen),
    ...postgresSearch(connection, checkOpen),
    ...postgresFind(connection, reads, checkOpen),
    close: () => {
      closing ??= queue.settled().then(async () => {
        clearInterval(reading)
        tails.endAll()
        await facts.settled()
        await bell.close()
        await connection.close()
      })
      return closing
    },
  }
}

/** Whether the database takes writes now, or why not. */
async function troubleOf({ once }: PgConnection): Promise<string | undefined> {
  const silent = 'the database does not answer'
  const asked = once('SELECT pg_is_in_recovery()').then(
    ([row]) => (row?.[0] === true ? 'the database is a standby and takes no writes' : undefined),
    () => silent,
  )
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, troublePatience, silent)
  })
  return Promise.race([asked, late]).finally(() => clearTimeout(timer))
}
