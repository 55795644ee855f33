import { expect, test } from 'vitest'
import { commitTiming } from './commit-timing.ts'
import type { WriteConnection } from './connection.ts'

const small = { rows: 1, text: 100, jobs: 1, bulk: false }

/** A commit takes as many ms as `commit` is given. `made` lists where each ran (here, away) and all other SQL. */
async function setUp(takeSql = () => '') {
  const made: string[] = []
  let clock = 0
  let takes = 0
  const writer: WriteConnection = {
    exec: async (sql) => {
      made.push(sql === 'COMMIT' ? 'away' : sql)
      if (sql.endsWith('COMMIT')) clock += takes
      else if (sql.includes('wal_checkpoint')) throw new Error('a checkpoint may fail')
    },
    prepare: async () => ({
      run: () => {
        made.push('here')
        clock += takes
        return 0
      },
      first: () => undefined,
    }),
    close: () => undefined,
  }
  const inserts = { insertHere: () => void made.push('rows'), takeSql }
  let copied = (): void => {}
  const copier = {
    copy: () => {
      made.push('copy')
      return new Promise<void>((resolve) => {
        copied = resolve
      })
    },
  }
  const timing = await commitTiming(writer, inserts, copier, () => clock)
  const commit = async (milliseconds: number, size = small): Promise<string | undefined> => {
    takes = milliseconds
    await timing.commit(size)
    return made.at(-1)
  }
  return { made, timing, commit, copied: () => copied() }
}

test('on a quick disk commits run on this thread', async () => {
  const { commit } = await setUp()
  for (let i = 0; i < 50; i++) expect(await commit(0.4)).toBe('here')
})

test('a slow disk blocks this thread once, and not again until it was quick for a while', async () => {
  const { commit } = await setUp()
  expect(await commit(50)).toBe('here')
  for (let i = 0; i < 100; i++) expect(await commit(50)).toBe('away')
  for (let i = 0; i < 10; i++) expect(await commit(0.4)).toBe('away')
  for (let i = 0; i < 10; i++) await commit(0.4)
  expect(await commit(0.4)).toBe('here')
})

test('a steadily slow disk commits away after a few commits, one with rare slow commits does not', async () => {
  const steady = await setUp()
  const places = []
  for (let i = 0; i < 20; i++) places.push(await steady.commit(3))
  expect(places.lastIndexOf('here')).toBeLessThan(6)
  const uneven = await setUp()
  for (let i = 0; i < 200; i++) expect(await uneven.commit(i % 50 === 49 ? 8 : 0.3)).toBe('here')
})

test('many rows, much text and whole sessions commit away on any disk', async () => {
  const { commit } = await setUp()
  expect(await commit(0.4, { ...small, rows: 200, text: 60_000 })).toBe('here')
  expect(await commit(0.4, { ...small, rows: 201 })).toBe('away')
  expect(await commit(0.4, { ...small, text: 1_000_000 })).toBe('away')
  expect(await commit(0.4, { ...small, bulk: true })).toBe('away')
  expect(await commit(0.4)).toBe('here')
})

test('the jobs of several runs commit away, together with their rows', async () => {
  const { made, commit } = await setUp(() => 'INSERT;')
  expect(await commit(0.4, { ...small, rows: 3, jobs: 3 })).toBe('here')
  await commit(0.4, { ...small, rows: 4, jobs: 4 })
  expect(made).toEqual(['rows', 'here', 'INSERT;COMMIT'])
})

test('small commits right after those of several runs run away too, until the runs have been silent for a while', async () => {
  const { commit } = await setUp()
  await commit(0.4, { ...small, rows: 20, jobs: 20 })
  for (let i = 0; i < 10; i++) expect(await commit(0.4)).toBe('away')
  for (let i = 0; i < 20; i++) await commit(0.4)
  expect(await commit(0.4)).toBe('here')
})

test('rows with very much text are inserted on this thread, and only the COMMIT runs away', async () => {
  const { made, commit } = await setUp()
  await commit(0.4, { ...small, text: 10_000_000 })
  expect(made).toEqual(['rows', 'away'])
})

test('a long WAL is copied while commits go on; then the rest is copied between two commits, and a failure rejects nothing', async () => {
  const { made, timing, commit, copied } = await setUp()
  const commits = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      await commit(0.1)
      await timing.between()
    }
  }
  const copies = (): readonly string[] => made.filter((what) => what === 'copy' || what.includes('wal_checkpoint'))
  await commits(700) // 5 pages each, and some text
  expect(copies()).toEqual([])
  await commits(1300)
  expect(copies()).toEqual(['copy'])
  copied()
  await commits(1)
  const rest = 'PRAGMA wal_autocheckpoint = 5000; PRAGMA wal_checkpoint(PASSIVE)'
  expect(copies()).toEqual(['copy', rest])
  // More than enough was written meanwhile, so the next copy begins at once.
  await commits(1)
  expect(copies()).toEqual(['copy', rest, 'copy'])
})

test('a streak of commits on this thread gives other work a turn', async () => {
  const { timing, commit } = await setUp()
  let turns = 0
  const count = (): void => {
    turns += 1
    if (turns < 1000) setImmediate(count)
  }
  setImmediate(count)
  for (let i = 0; i < 100; i++) {
    await commit(1)
    await timing.between()
  }
  expect(turns).toBeGreaterThan(15)
  turns = 1000
})
