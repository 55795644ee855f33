import Blocking from 'libsql'
import Promised from 'libsql/promise'

/**
 * The only file that calls libsql. Its driver (0.5.29, tried) differs from better-sqlite3: a boolean, or a Buffer as the
 * only argument, aborts the process; `undefined` binds NULL; numbers bind as REAL unless the column is INTEGER; text ends
 * at U+0000; `get()` and `pluck()` return more than the row. Therefore values go in as one array of text, numbers and
 * null, and rows come out as arrays.
 */
export type Bound = string | number | null
export type Row = readonly unknown[]

export interface Statement {
  /** Runs the statement and returns the rowid of the last insert. */
  run(values: readonly Bound[]): number
  first(values: readonly Bound[]): Row | undefined
}

/** A connection that writes. Statements run synchronously on this thread, `exec` runs on a thread of libsql. */
export interface WriteConnection {
  exec(sql: string): Promise<void>
  prepare(sql: string): Promise<Statement>
  close(): void
}

/** A connection that reads, on this thread. In WAL mode a reader never waits for a writer. */
export interface ReadConnection {
  prepare(sql: string): (values: readonly Bound[]) => readonly Row[]
  exec(sql: string): void
  close(): void
}

export function openWriter(file: string): WriteConnection {
  const database = new Promised(file, {})
  return {
    exec: async (sql) => {
      await database.exec(sql)
    },
    prepare: async (sql) => {
      const statement = await database.prepare(sql)
      if (statement.reader) statement.raw()
      return {
        run: (values) => statement.run(values).lastInsertRowid,
        first: (values) => statement.get(values),
      }
    },
    close: () => database.close(),
  }
}

export function openReader(file: string): ReadConnection {
  const database = new Blocking(file, {})
  return {
    exec: (sql) => database.exec(sql),
    prepare: (sql) => {
      const statement = database.prepare(sql).raw()
      return (values) => statement.all(values).filter(isRow)
    },
    close: () => {
      database.close()
    },
  }
}

function isRow(value: unknown): value is Row {
  return Array.isArray(value)
}
