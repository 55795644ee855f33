import { identifier, type PgConnection, type Query } from './connection.ts'
import { postgresFailed } from './failure.ts'

/** A step from the version before. Never edit a released step; add a new one. */
export interface PgMigration {
  readonly version: number
  readonly sql: string
}

/**
 * Every table begins its key with the id of the session, or with the agent and the user, so that each can be distributed
 * by it: all statements of a run then go to one node. No column counts up by itself. `born` tells a session from an
 * earlier one of the same id. `version` grows with every change of the row, which is how a writer notices that another
 * replica wrote (see `session-queue.ts`). A time of an imported
 * event may have a fraction. The leases are one JSON text in the row that they guard; `lease_until` and
 * `owners` find them, and `abandoned` is an open run that none of them covers. Text of a JSON string is quoted where it may hold U+0000, which no text of PostgreSQL can.
 */
export const pgMigrations: readonly PgMigration[] = [
  {
    version: 1,
    sql: `
      CREATE TABLE session (
        id text COLLATE "C" PRIMARY KEY,
        born text NOT NULL,
        version bigint NOT NULL,
        stamp text NOT NULL,
        user_name text COLLATE "C" NOT NULL,
        agent text COLLATE "C" NOT NULL,
        title text NOT NULL,
        search text NOT NULL,
        status text NOT NULL,
        last_run text,
        last_seq bigint NOT NULL,
        events bigint NOT NULL,
        runs bigint NOT NULL,
        created_at double precision NOT NULL,
        updated_at double precision NOT NULL,
        fork_session text,
        fork_seq bigint,
        epoch bigint NOT NULL,
        leases text NOT NULL,
        lease_until bigint,
        owners text[] NOT NULL,
        abandoned boolean NOT NULL,
        partials bigint NOT NULL,
        widest bigint NOT NULL,
        size bigint NOT NULL,
        remembered bigint NOT NULL DEFAULT 0,
        indexed bigint NOT NULL DEFAULT 0
      ) WITH (fillfactor = 50);
      CREATE INDEX session_by_user ON session (user_name, agent);
      CREATE INDEX session_leased ON session (lease_until) WHERE lease_until IS NOT NULL;
      CREATE INDEX session_abandoned ON session (id) WHERE abandoned;
      CREATE TABLE event (
        session text COLLATE "C" NOT NULL,
        seq bigint NOT NULL,
        at double precision NOT NULL,
        run text COLLATE "C" NOT NULL,
        kind smallint NOT NULL,
        message text,
        body text NOT NULL,
        PRIMARY KEY (session, seq)
      );
      CREATE INDEX event_start ON event (session, run, seq) WHERE kind = 4;
      CREATE TABLE checkpoint (
        session text COLLATE "C" NOT NULL,
        seq bigint NOT NULL,
        version int NOT NULL,
        body text NOT NULL,
        PRIMARY KEY (session, seq)
      );
      CREATE TABLE message_text (
        session text COLLATE "C" NOT NULL,
        seq bigint NOT NULL,
        user_name text COLLATE "C" NOT NULL,
        agent text COLLATE "C" NOT NULL,
        words tsvector NOT NULL,
        PRIMARY KEY (session, seq)
      );
      CREATE INDEX message_text_words ON message_text USING gin (words);
      CREATE TABLE secret (
        id int PRIMARY KEY CHECK (id = 1),
        value text NOT NULL
      );
      CREATE TABLE shared_state (
        agent text COLLATE "C" NOT NULL,
        user_name text COLLATE "C" NOT NULL,
        name text COLLATE "C" NOT NULL,
        value text NOT NULL,
        PRIMARY KEY (agent, user_name, name)
      );
      CREATE TABLE shared_artifact (
        agent text COLLATE "C" NOT NULL,
        user_name text COLLATE "C" NOT NULL,
        name text COLLATE "C" NOT NULL,
        version bigint NOT NULL,
        saved_at double precision NOT NULL,
        body text NOT NULL,
        PRIMARY KEY (agent, user_name, name, version)
      );`,
  },
  {
    // What users did in the present minute, so that limits hold over all replicas; deleting it loses nothing.
    version: 2,
    sql: `
      CREATE TABLE allotment (
        key text COLLATE "C" PRIMARY KEY,
        began bigint NOT NULL,
        count bigint NOT NULL,
        granted bigint NOT NULL
      ) WITH (fillfactor = 50);`,
  },
  {
    // The first rows of a fork are those of other sessions: `parts` lists them, as JSON, and `shared_rows` finds the forks
    // of a session. See `shared-rows.ts`.
    version: 3,
    sql: `
      ALTER TABLE session ADD COLUMN parts text NOT NULL DEFAULT '[]';
      CREATE TABLE shared_rows (
        origin text COLLATE "C" NOT NULL,
        session text COLLATE "C" NOT NULL,
        upto bigint NOT NULL,
        PRIMARY KEY (origin, session)
      );`,
  },
  {
    // `found_to` is the last seq whose texts are in the index, if they are of the version `found_version`: every other
    // version is indexed anew. Deleting the texts of a session together with these two numbers loses nothing. `born` is
    // that of the session, so that texts which a replica stores too late belong to no session.
    version: 4,
    sql: `
      ALTER TABLE session ADD COLUMN found_to bigint NOT NULL DEFAULT 0;
      ALTER TABLE session ADD COLUMN found_version int NOT NULL DEFAULT 0;
      CREATE TABLE found_text (
        session text COLLATE "C" NOT NULL,
        seq bigint NOT NULL,
        kind smallint NOT NULL,
        born text NOT NULL,
        at double precision NOT NULL,
        size smallint NOT NULL,
        words tsvector NOT NULL,
        PRIMARY KEY (session, seq, kind)
      );
      CREATE INDEX found_text_words ON found_text USING gin (words);`,
  },
]

const oldest = 140_000

/**
 * Makes or migrates the schema, in one transaction: of several replicas that start at once, one does it and the others
 * wait. A schema of a newer version is refused and left as it is.
 */
export async function pgMigrate(
  connection: PgConnection,
  schema: string,
  now: number,
  steps: readonly PgMigration[] = pgMigrations,
): Promise<void> {
  const { place } = connection
  const [[version] = []] = await connection.query('SHOW server_version_num')
  if (Number(version) < oldest) throw postgresFailed('old', place, 'use', undefined, { version: Number(version) })
  const newest = steps.at(-1)?.version ?? 0
  if ((await versionOf(connection.query, schema)) === newest) return
  // Two replicas may both find that the schema is missing; the second then finds it made.
  for (let attempt = 1; ; attempt++) {
    try {
      await connection.transaction((query) => steadily(query, { schema, now, steps, place, newest }))
      return
    } catch (error) {
      if (attempt === 3 || !isRace(error)) throw error
    }
  }
}

interface Plan {
  readonly schema: string
  readonly now: number
  readonly steps: readonly PgMigration[]
  readonly place: string
  readonly newest: number
}

async function steadily(query: Query, { schema, now, steps, place, newest }: Plan): Promise<void> {
  const name = identifier(schema)
  // Nothing reads the table before it is locked: two replicas that both did could never both lock it.
  if (!(await isMade(query, schema))) {
    await query(`CREATE SCHEMA IF NOT EXISTS ${name}`)
    await query(`CREATE TABLE IF NOT EXISTS ${name}.migration (version int PRIMARY KEY, at bigint NOT NULL)`)
  }
  await query(`LOCK TABLE ${name}.migration IN ACCESS EXCLUSIVE MODE`)
  const current = (await versionOf(query, schema)) ?? 0
  if (current > newest) throw postgresFailed('newer', place, 'open', undefined, { version: current })
  await query(`SET LOCAL search_path TO ${name}`)
  for (const step of steps) {
    if (step.version <= current) continue
    await query(step.sql)
    await query('INSERT INTO migration (version, at) VALUES ($1, $2)', [step.version, now])
  }
}

/** Undefined while there is no schema. */
async function versionOf(query: Query, schema: string): Promise<number | undefined> {
  if (!(await isMade(query, schema))) return undefined
  const [[version] = []] = await query(`SELECT coalesce(max(version), 0) FROM ${identifier(schema)}.migration`)
  return Number(version)
}

async function isMade(query: Query, schema: string): Promise<boolean> {
  const [[found] = []] = await query('SELECT to_regclass($1)::text', [`${identifier(schema)}.migration`])
  return found !== null && found !== undefined
}

function isRace(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined
  return code === '23505' || code === '42P06' || code === '42P07'
}
