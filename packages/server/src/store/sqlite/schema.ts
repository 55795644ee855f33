import type { WriteConnection } from './connection.ts'

/** `PRAGMA application_id`, "MLRC": distinguishes a Millrace file from any other SQLite database. */
export const applicationId = 0x4d4c5243

/** A step from the version before. Never edit a released step; add a new one. */
export interface Migration {
  readonly version: number
  readonly sql: string
}

/**
 * Events are a rowid table with a unique index, because appending to it was measured to be 1.9 to 3.1 times as fast as
 * with a (session, seq) primary key. Events refer to a session by number, so that the index stays small. Every number
 * column is INTEGER, because libsql binds numbers as REAL elsewhere. A session's number is never used again
 * (AUTOINCREMENT), so that a reader of a removed session does not continue in a newer one. `mark` is the kind of an
 * event, for queries that do not parse it, or below zero for a strip of several (`strips.ts`). No index holds `updated_at`, because every append changes it: the index cost
 * a tenth of each commit, and without it a page of a user's 10,000 sessions is sorted in 5 ms.
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
  {
    // `indexed` is the last seq whose messages are in `message_text`, whose rowids are those of `event`.
    version: 2,
    sql: `
      ALTER TABLE session ADD COLUMN remembered INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE session ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0;
      CREATE VIRTUAL TABLE message_text USING fts5(text, content='', contentless_delete=1);
      CREATE TABLE shared_state (
        agent TEXT NOT NULL,
        user TEXT NOT NULL,
        name TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (agent, user, name)
      );
      CREATE TABLE shared_artifact (
        id INTEGER PRIMARY KEY,
        agent TEXT NOT NULL,
        user TEXT NOT NULL,
        name TEXT NOT NULL,
        version INTEGER NOT NULL,
        body TEXT NOT NULL
      );
      CREATE INDEX shared_artifact_by_name ON shared_artifact (agent, user, name);`,
  },
  {
    // Checkpoints of what the rows add up to; deleting them loses nothing. The index finds a run by its start (mark 4).
    version: 3,
    sql: `
      CREATE TABLE checkpoint (
        session INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        version INTEGER NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (session, seq)
      );
      CREATE INDEX event_start ON event (session, run, seq) WHERE mark = 4;`,
  },
  {
    // `size` has the characters of a session's own events, so that what a user has can be counted without reading it.
    // The rows up to `upto` of the session with the number `origin` are also the first rows of `session`, a fork. They
    // outlive their session where a fork still needs them.
    version: 4,
    sql: `
      CREATE TABLE shared_rows (
        session INTEGER NOT NULL,
        origin INTEGER NOT NULL,
        upto INTEGER NOT NULL,
        PRIMARY KEY (session, origin)
      ) WITHOUT ROWID;
      CREATE INDEX shared_rows_by_origin ON shared_rows (origin, upto);
      ALTER TABLE session ADD COLUMN size INTEGER NOT NULL DEFAULT 0;
      UPDATE session SET size = (SELECT coalesce(sum(length(body)), 0) FROM event WHERE event.session = session.id);`,
  },
  {
    // Numbers whose events belong to no session: not yet, while one is restored, or no longer, while one is removed.
    // `size` has the characters that the user will be charged with.
    version: 5,
    sql: `
      CREATE TABLE leftover (
        session INTEGER PRIMARY KEY,
        user TEXT NOT NULL,
        size INTEGER NOT NULL
      );`,
  },
  {
    // `found_to` is the last seq whose texts are in the index, if they are of the version `found_version`: every other
    // version is indexed anew. Deleting the texts of a session together with these two numbers loses nothing.
    version: 6,
    sql: `
      ALTER TABLE session ADD COLUMN found_to INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE session ADD COLUMN found_version INTEGER NOT NULL DEFAULT 0;
      CREATE TABLE found_text (
        id INTEGER PRIMARY KEY,
        session INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        at INTEGER NOT NULL,
        kind INTEGER NOT NULL,
        size INTEGER NOT NULL
      );
      CREATE INDEX found_text_by_session ON found_text (session);
      CREATE VIRTUAL TABLE found_words USING fts5(
        words, content='', contentless_delete=1, detail=none, prefix='2 3', tokenize="ascii tokenchars '='");`,
  },
  {
    // A row of `event` may be a strip of several partials (`strips.ts`). Earlier rows stay as they are; the number alone
    // keeps earlier versions of the server, which would misread a strip, from opening the file.
    version: 7,
    sql: '',
  },
  {
    // A strip holds what its events have in common once (`strip-lines.ts`). Strips of version 7 are read as they are.
    version: 8,
    sql: '',
  },
]

/** Migrates the file to the newest version in one transaction and records when each step ran. */
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
