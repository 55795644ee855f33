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
      else throw new Error('a checkpoint may fail')
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
  const timing = await commitTiming(writer, inserts, () => clock)
  const commit = async (milliseconds: number, size = small): Promise<string | undefined> => {
    takes = milliseconds
    await timing.commit(size)
    return made.at(-1)
  }
  return { made, timing, commit }
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
  expect(await commit(0.4, { ...small, rows: 201, jobs: 150 })).toBe('away')
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

test('rows with very much text are inserted on this thread, and only the COMMIT runs away', async () => {
  const { made, commit } = await setUp()
  await commit(0.4, { ...small, text: 10_000_000 })
  expect(made).toEqual(['rows', 'away'])
})

test('checkpoints run away, by the number of pages written, and a failed one rejects nothing', async () => {
  const { made, timing, commit } = await setUp()
  for (let i = 0; i < 2000; i++) {
    await commit(0.1)
    await timing.between()
  }
  const checkpoints = made.filter((what) => what.includes('wal_checkpoint'))
  expect(checkpoints.length).toBe(2) // 5 pages each, and some text
  await commit(0.1, { ...small, rows: 10, text: 40_000_000 })
  await timing.between()
  expect(made.at(-1)).toContain('wal_checkpoint')
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
