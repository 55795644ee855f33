import type { WriteConnection } from './connection.ts'

/** `PRAGMA application_id`: "MLRC". Tells our file from any other SQLite database before anything is written. */
export const applicationId = 0x4d4c5243

/** One step from the version before. Never edited once released: a change is a new step. */
export interface Migration {
  readonly version: number
  readonly sql: string
}

/**
 * A rowid log with a unique index, because that is 1.9 to 3.1 times as fast to append to as a (session, seq) primary
 * key (measured); the session by its number, so that the index stays small. Every number is INTEGER: libsql binds
 * numbers as REAL elsewhere. A session's number is never given out again (AUTOINCREMENT): a reader in the middle of one
 * that was removed must not go on in the one made after it. `mark` is what is asked of an event without opening it.
 * No index holds `updated_at`, which every append changes: it cost a tenth of each commit, and without it a page of a
 * user's 10,000 sessions is sorted in 5 ms.
 */
export const migrations: readonly Migration[] = [
  {
    version: 1,
    sql: `
      CREATE TABLE session (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        user TEXT NOT NULL,
        agent TEXT NOT NULL,
        title TEXT NOT NULL,
        search TEXT NOT NULL,
        status TEXT NOT NULL,
        last_run TEXT,
        last_seq INTEGER NOT NULL,
        events INTEGER NOT NULL,
        runs INTEGER NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        fork_session TEXT,
        fork_seq INTEGER,
        epoch INTEGER NOT NULL,
        partials INTEGER NOT NULL,
        widest INTEGER NOT NULL
      );
      CREATE INDEX session_by_user ON session (user);
      CREATE INDEX session_running ON session (id) WHERE status = 'running';
      CREATE TABLE event (
        id INTEGER PRIMARY KEY,
        session INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        at INTEGER NOT NULL,
        run TEXT NOT NULL,
        mark INTEGER NOT NULL,
        body TEXT NOT NULL
      );
      CREATE UNIQUE INDEX event_by_seq ON event (session, seq);
      CREATE TABLE lease (
        session INTEGER NOT NULL,
        run TEXT NOT NULL,
        owner TEXT NOT NULL,
        epoch INTEGER NOT NULL,
        until INTEGER NOT NULL,
        PRIMARY KEY (session, run)
      );`,
  },
]

/** Brings the file to the newest version in one transaction, and writes down when each step was taken. */
export async function migrate(
  writer: WriteConnection,
  now: number,
  steps: readonly Migration[] = migrations,
): Promise<void> {
  await writer.exec('BEGIN IMMEDIATE')
  try {
    await writer.exec('CREATE TABLE IF NOT EXISTS migration (version INTEGER PRIMARY KEY, at INTEGER NOT NULL)')
    const current = Number((await writer.prepare('SELECT coalesce(max(version), 0) FROM migration')).first([])?.[0])
    const done = await writer.prepare('INSERT INTO migration (version, at) VALUES (?, ?)')
    for (const { version, sql } of steps) {
      if (version <= current) continue
      await writer.exec(sql)
      done.run([version, now])
    }
    await writer.exec(`PRAGMA application_id = ${applicationId}`)
    await writer.exec('COMMIT')
  } catch (error) {
    await writer.exec('ROLLBACK').catch(() => undefined) // SQLite may have rolled back by itself; the first error counts
    throw error
  }
}
