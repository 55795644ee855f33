import { MillraceError } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import type { WriteConnection } from './connection.ts'
import { type GroupCommit, groupCommit } from './group-commit.ts'

/** A database that records its SQL, and whose COMMITs the test resolves or rejects. */
function fakeWriter() {
  const recorded: string[] = []
  const commits: { resolve(): void; reject(error: Error): void }[] = []
  let busy = 0
  const writer: WriteConnection = {
    exec: (sql) => {
      recorded.push(sql)
      return sql === 'COMMIT' ? new Promise((resolve, reject) => commits.push({ resolve, reject })) : Promise.resolve()
    },
    prepare: async (sql) => ({
      run: () => {
        if (busy-- > 0) throw Object.assign(new Error('busy'), { code: 'SQLITE_BUSY', rawCode: 5 })
        recorded.push(sql)
        return 0
      },
      first: () => undefined,
    }),
    close: () => undefined,
  }
  /** Waits for the next COMMIT by turns of the event loop, not by time. */
  const nextCommit = async () => {
    while (commits.length === 0) await new Promise((resolve) => setImmediate(resolve))
    return commits.shift()!
  }
  return {
    writer,
    recorded,
    nextCommit,
    waiting: () => commits.length,
    beBusy: () => {
      busy = 1
    },
  }
}

async function setUp() {
  const fake = fakeWriter()
  const hooks = {
    beforeCommit: () => void fake.recorded.push('flush'),
    committed: () => void fake.recorded.push('kept'),
    rolledBack: () => void fake.recorded.push('dropped'),
  }
  const timing = { commit: () => fake.writer.exec('COMMIT'), between: () => undefined }
  const group = await groupCommit(fake.writer, 'db', hooks, timing)
  const job = (name: string) =>
    group.run((turn) => {
      fake.recorded.push(name)
      turn.onCommit(() => fake.recorded.push(`${name} is durable`))
      turn.tell(() => fake.recorded.push(`${name} is told`))
      return name
    })
  return { ...fake, group, job }
}

async function settledOf(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  void promise.then(() => {
    settled = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  return settled
}

describe('group commit', () => {
  test('a lone job does not wait, and resolves only when it is durable', async () => {
    const { recorded, nextCommit, job } = await setUp()
    const done = job('a')
    const commit = await nextCommit()
    expect(recorded).toEqual(['BEGIN IMMEDIATE', 'a', 'flush', 'COMMIT'])
    expect(await settledOf(done)).toBe(false)
    commit.resolve()
    expect(await done).toBe('a')
    expect(recorded.slice(4)).toEqual(['kept', 'a is durable', 'a is told'])
  })
  test('jobs that arrive during a commit share the next one, in order', async () => {
    const { recorded, nextCommit, waiting, job } = await setUp()
    const first = job('a')
    const commit = await nextCommit()
    const later = ['b', 'c', 'd'].map(job)
    await new Promise((resolve) => setImmediate(resolve))
    expect(waiting()).toBe(0)
    commit.resolve()
    await first
    ;(await nextCommit()).resolve()
    expect(await Promise.all(later)).toEqual(['b', 'c', 'd'])
    expect(recorded.filter((line) => line === 'COMMIT').length).toBe(2)
    expect(recorded.indexOf('b')).toBeLessThan(recorded.indexOf('c'))
    expect(recorded.indexOf('c')).toBeLessThan(recorded.indexOf('d'))
  })
  test('the callers of a commit are told once the next one is on its way, and the effects run before its jobs', async () => {
    const { recorded, nextCommit, job } = await setUp()
    const first = job('a')
    const commit = await nextCommit()
    const later = job('b')
    commit.resolve()
    const second = await nextCommit()
    expect(recorded.slice(recorded.indexOf('kept'))).toEqual([
      'kept',
      'a is durable',
      'BEGIN IMMEDIATE',
      'b',
      'flush',
      'COMMIT',
      'a is told',
    ])
    second.resolve()
    await Promise.all([first, later])
    expect(recorded.slice(-3)).toEqual(['kept', 'b is durable', 'b is told'])
  })
  test('the callers of a commit do not wait for a job of the next one that lasts', async () => {
    const { nextCommit, group, job } = await setUp()
    const first = job('a')
    const commit = await nextCommit()
    let end: (value: string) => void = () => undefined
    const lasting = new Promise<string>((resolve) => {
      end = resolve
    })
    const long = group.run(() => lasting)
    commit.resolve()
    expect(await first).toBe('a')
    end('b')
    ;(await nextCommit()).resolve()
    expect(await long).toBe('b')
  })
  test('jobs of one tick share one commit', async () => {
    const { recorded, nextCommit, job } = await setUp()
    const all = Array.from({ length: 100 }, (_, i) => job(`${i}`))
    ;(await nextCommit()).resolve()
    await Promise.all(all)
    expect(recorded.filter((line) => line === 'COMMIT').length).toBe(1)
  })
  test('a job that refuses does not stop the others', async () => {
    const { nextCommit, group, job } = await setUp()
    const refused = group.run(() => {
      throw new MillraceError('lease-lost', 'no')
    })
    const others = [job('a'), job('b')]
    ;(await nextCommit()).resolve()
    await expect(refused).rejects.toMatchObject({ code: 'lease-lost' })
    expect(await Promise.all(others)).toEqual(['a', 'b'])
  })
  test('after a failed commit each job runs alone, and only the failing ones are lost', async () => {
    const { recorded, nextCommit, job } = await setUp()
    const [a, b] = [job('a'), job('b')]
    const full = Object.assign(new Error('full'), { code: 'SQLITE_FULL', rawCode: 13 })
    ;(await nextCommit()).reject(full)
    ;(await nextCommit()).resolve()
    ;(await nextCommit()).reject(full)
    expect(await a).toBe('a')
    await expect(b).rejects.toMatchObject({ code: 'store-failed', facts: { reason: 'full', source: 'SQLITE_FULL' } })
    expect(recorded.filter((line) => line === 'dropped').length).toBe(2)
    expect(recorded).toContain('a is durable')
    expect(recorded).not.toContain('b is durable')
  })
  test('it continues after a failure', async () => {
    const { nextCommit, job } = await setUp()
    const lost = job('a')
    ;(await nextCommit()).reject(Object.assign(new Error(''), { code: 'SQLITE_IOERR_FSYNC', rawCode: 1034 }))
    await expect(lost).rejects.toMatchObject({ code: 'store-failed', facts: { reason: 'io' } })
    const next = job('b')
    ;(await nextCommit()).resolve()
    expect(await next).toBe('b')
  })
  test('it waits for a foreign lock without blocking this thread', async () => {
    const { recorded, nextCommit, beBusy, job } = await setUp()
    beBusy()
    const done = job('a')
    ;(await nextCommit()).resolve()
    expect(await done).toBe('a')
    expect(recorded.slice(0, 2)).toEqual(['PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE', 'PRAGMA busy_timeout = 0'])
  })
  test('settled waits for all earlier jobs', async () => {
    const { nextCommit, group, job } = await setUp()
    await group.settled()
    const first = job('a')
    const settled = group.settled()
    const commit = await nextCommit()
    const second = job('b')
    expect(await settledOf(settled)).toBe(false)
    commit.resolve()
    ;(await nextCommit()).resolve()
    await settled
    expect(await Promise.all([first, second] satisfies [ReturnType<GroupCommit['run']>, unknown])).toEqual(['a', 'b'])
  })
})
