import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MillraceError } from '@millrace/core'
import { sqliteLog } from '@millrace/server'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Bench, bench, ending, note, scripted } from '../../../../test/kit/engine-kit.ts'

const chatty = scripted('chatty', async function* (_, { signal }) {
  while (!signal.aborted) {
    yield note('x')
    await new Promise((resolve) => setImmediate(resolve))
  }
})
const full = new MillraceError('store-failed', 'disk full')

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'] }))
afterEach(() => vi.useRealTimers())

/** Appends fail from call `from` to call `to`; with `commits`, although they were committed. */
function failing(own: Bench, from: number, to: number, commits = false): void {
  const { append } = own.log
  let calls = 0
  own.log.append = async (...args) => {
    calls += 1
    if (calls < from || calls > to) return append(...args)
    if (commits) await append(...args)
    throw full
  }
}
async function runToEnd(own: Bench): Promise<string> {
  const { run } = await own.start('chatty')
  while (own.engine.active > 0) {
    await vi.advanceTimersByTimeAsync(100)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return run
}

test('a store that refuses one write ends the run as failed, and says why', async () => {
  const own = bench([chatty])
  failing(own, 4, 5)
  const run = await runToEnd(own)
  expect(await ending(own, run)).toMatchObject({ outcome: 'failed', error: { code: 'store-failed' } })
  expect(await own.engine.wait('s', run)).toBe('failed')
  expect(await own.log.expired('me')).toEqual([])
})

test('a write that was committed although it failed makes no second end', async () => {
  const own = bench([
    scripted('chatty', async function* () {
      yield note('x')
    }),
  ])
  failing(own, 3, 4, true)
  const run = await runToEnd(own)
  await ending(own, run)
  expect(await own.engine.wait('s', run)).toBe('done')
})

test('a store that stays down leaves the run to recovery', async () => {
  const own = bench([chatty])
  failing(own, 3, 20)
  const run = await runToEnd(own)
  expect(await own.kinds(run)).not.toContain('run.finished')
  expect(own.audit.at(-1)).toMatchObject({ action: 'run.lost' })
  own.clock.now += 60_000
  while ((await own.engine.recover()).failed === 0) own.clock.now += 60_000
  expect(await ending(own, run)).toMatchObject({ outcome: 'failed', error: { code: 'crashed' } })
})

test('a disk that is full ends the run as failed: what was taken is there, and the next run goes as soon as there is room', async () => {
  vi.useRealTimers()
  const folder = mkdtempSync(join(tmpdir(), 'millrace-full-'))
  const log = await sqliteLog({ folder, now: () => 1_000, maxBytes: 400_000 })
  try {
    const wordy = scripted('wordy', async function* () {
      for (;;) yield note('x'.repeat(3_000))
    })
    const brief = scripted('brief', async function* () {
      yield note('x')
    })
    const own = bench([wordy, brief], { log })
    await log.create({ id: 'old', user: 'u', agent: 'a' })
    await log.append('old', [{ run: '', event: note('x'.repeat(100_000)) }])
    const { run } = await own.start('wordy')
    expect(await own.engine.wait('s', run)).toBe('failed')
    expect(await ending(own, run)).toMatchObject({ error: { code: 'store-failed', message: 'the store failed: full' } })
    expect((await own.rows()).map(({ seq }) => seq)).toEqual((await own.rows()).map((_, i) => i + 1))
    await log.remove('old')
    expect(await own.engine.wait('s', (await own.start('brief')).run)).toBe('done')
    expect(await log.integrity()).toEqual([])
  } finally {
    await log.close()
    rmSync(folder, { recursive: true })
  }
})

test('a lease that cannot be renewed for its whole time is given up: another may have it', async () => {
  const own = bench([chatty], { limits: { leaseTtl: 300 } })
  own.log.renew = async () => {
    own.clock.now += 150
    throw full
  }
  const { run } = await own.start('chatty')
  while (own.engine.active > 0) {
    await vi.advanceTimersByTimeAsync(100)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await own.kinds(run)).not.toContain('run.finished')
})

test('a start that cannot be written is refused, and the session stays free', async () => {
  const own = bench([chatty])
  failing(own, 1, 1)
  await expect(own.start('chatty')).rejects.toMatchObject({ code: 'store-failed' })
  expect(await own.log.expired('me')).toEqual([])
  expect(own.engine.active).toBe(0)
})
