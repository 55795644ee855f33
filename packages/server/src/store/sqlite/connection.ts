import Blocking from 'libsql'
import Promised from 'libsql/promise'

/**
 * The one door to libsql, which is not better-sqlite3 (0.5.29, tried): a boolean, or a Buffer as the only argument,
 * aborts the process; `undefined` binds NULL; numbers bind as REAL unless the column is INTEGER; text ends at U+0000;
 * `get()` and `pluck()` return more than the row. So: text, numbers and null go in, as one array; arrays come out.
 */
export type Bound = string | number | null
export type Row = readonly unknown[]

export interface Statement {
  /** Runs it and gives the rowid of what was inserted last. */
  run(values: readonly Bound[]): number
  first(values: readonly Bound[]): Row | undefined
}

/** A connection that writes: statements run at once on this thread, `exec` on another one of libsql's own. */
export interface WriteConnection {
  exec(sql: string): Promise<void>
  prepare(sql: string): Promise<Statement>
  close(): void
}

/** A connection that reads, on this thread: in WAL mode it waits for no writer. */
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
