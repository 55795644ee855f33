import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Recorded, sessionFacts } from '@millrace/core'
import Database from 'libsql'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sqliteLog } from './log.ts'

/** Runs of ten rows, each of which sets a key of the state. */
const rows: readonly Recorded[] = Array.from({ length: 6000 }, (_, i) => {
  const [seq, run] = [i + 1, `r${Math.floor(i / 10)}`]
  const at = 1000 + i
  if (i % 10 === 0) return { seq, at, run, event: { kind: 'run.started', agent: 'a', input: { messages: [] } } }
  if (i % 10 === 9) return { seq, at, run, event: { kind: 'run.finished', outcome: 'done' } }
  return { seq, at, run, event: { kind: 'state', patch: [{ op: 'add', path: `/k${i % 7}`, value: i }] } }
})

describe('checkpoints of facts', () => {
  let folder = ''
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-facts-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const open = () => sqliteLog({ folder, now: () => 1 })
  const restored = async (): Promise<void> => {
    const log = await open()
    await log.restore({ id: 's', user: 'u', agent: 'a' }, rows)
    await log.close()
  }
  /** Runs SQL on the closed file and returns the rows of a query. */
  const sql = (text: string): unknown[] => {
    const database = new Database(join(folder, 'millrace.db'))
    try {
      const statement = database.prepare(text)
      return statement.reader ? statement.raw().all() : [statement.run()]
    } finally {
      database.close()
    }
  }
  const seqs = (): readonly unknown[] =>
    sql('SELECT seq FROM checkpoint ORDER BY seq').map((row) => (row as [number])[0])

  test('SPEC 2.12: facts come from the checkpoint and the rows after it, and not from those before', async () => {
    await restored()
    expect(seqs()).toEqual([4096, 6000])
    // What no store does: with another first row, only a read from the first on gives other facts.
    sql(`UPDATE event SET body = '{"kind":"state","patch":[{"op":"add","path":"/early","value":1}]}' WHERE seq = 1`)
    const log = await open()
    expect((await log.facts('s')).state).toEqual(sessionFacts(rows).state)
    expect((await log.facts('s', 5000)).state).toEqual(sessionFacts(rows.slice(0, 5000)).state)
    expect((await log.facts('s', 4000)).state).toHaveProperty('early')
    await log.close()
  })

  test.each([
    ['of another version', 'UPDATE checkpoint SET version = version + 1'],
    ['beyond the end of the log', 'UPDATE checkpoint SET seq = seq + 6000'],
    ['whose text says that it is beyond the end', `UPDATE checkpoint SET body = json_set(body, '$.seq', 9000)`],
    ['that is no JSON', `UPDATE checkpoint SET body = 'x'`],
    ['that is other JSON', `UPDATE checkpoint SET body = '{"seq":6000,"state":{}}'`],
    ['that is gone', 'DELETE FROM checkpoint'],
  ])('a checkpoint %s is made again from the rows', async (_, spoil) => {
    await restored()
    sql(spoil)
    const log = await open()
    expect(await log.facts('s')).toEqual(sessionFacts(rows))
    const lease = await log.acquire('s', 'next', 'me', 10)
    await log.release(lease)
    await log.close()
    expect(seqs()).toContain(6000)
    const again = await open()
    expect(await again.facts('s')).toEqual(sessionFacts(rows))
    await again.close()
  })

  test('a checkpoint is written at the end of a run, thinned, and removed with its session', async () => {
    const log = await open()
    await log.create({ id: 's', user: 'u', agent: 'a' })
    for (let turn = 0; turn < 12; turn++) {
      const run = `r${turn}`
      await log.facts('s')
      const lease = await log.acquire('s', run, 'me', 10)
      const part = rows.slice(1, 101).map(({ event }) => ({ run, event }))
      await log.append('s', part, lease)
      await log.release(lease)
    }
    const { lastSeq } = (await log.get('s')) ?? { lastSeq: 0 }
    await log.close()
    expect(seqs()).toEqual([lastSeq - 300])
    const again = await open()
    expect(await again.facts('s')).toEqual(sessionFacts(await again.read('s', { after: 0 })))
    await again.remove('s')
    await again.close()
    expect(seqs()).toEqual([])
  })
})
