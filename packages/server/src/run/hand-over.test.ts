import { type EventLog, memoryLog } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { bench, delta, ending, note, said, scripted } from '../../../../test/kit/engine-kit.ts'
import { aborted, gate } from '../../../../test/kit/waiting.ts'

/** A log as several processes share it. */
function sharedLog(now: () => number): EventLog {
  return { ...memoryLog(now), watch: () => () => {} }
}

/** Says one step whole and half of the next, then waits; taken up again, it goes on with the second. */
const stepper = scripted(
  'stepper',
  async function* (_, { resumed, signal, history }) {
    if (!resumed) {
      yield said('one', 'first')
      yield delta('two', 'sec')
      await aborted(signal)
      yield note('too late')
      return
    }
    yield note(`${history.filter(({ event }) => event.kind === 'agent').length} before`)
    yield said('two', 'second')
  },
  true,
)

describe('SPEC 4.9: the end of a process that shares its log', () => {
  test('leaves the run of a resumable agent open, and another process goes on with it at once', async () => {
    const clock = { now: 1_000 }
    const log = sharedLog(() => clock.now)
    const first = bench([stepper], { log, clock, owner: 'first' })
    const second = bench([stepper], { log, clock, owner: 'second' })
    const { run } = await first.start('stepper')
    await expect.poll(async () => (await first.rows()).length).toBe(3)
    const waits = first.engine.wait('s', run)
    await first.engine.shutdown(60_000)
    expect(await first.kinds(run)).toEqual(['run.started', 'agent', 'agent'])
    expect(first.audit.at(-1)).toMatchObject({ action: 'run.hand-over', run })
    expect(await second.engine.recover()).toEqual({ failed: 0, resumed: 1 })
    expect(await second.engine.wait('s', run)).toBe('done')
    expect(await waits).toBe('done')
    expect(await second.kinds(run)).toEqual([
      'run.started',
      'agent',
      'agent',
      'superseded',
      'log',
      'agent',
      'run.finished',
    ])
    await ending(second, run)
  })

  test('does not count as a crash of the run', async () => {
    const clock = { now: 1_000 }
    const log = sharedLog(() => clock.now)
    let left = 3
    const restless = scripted(
      'restless',
      async function* (_, { signal }) {
        yield note('on')
        if (left > 0) await aborted(signal)
      },
      true,
    )
    const first = bench([restless], { log, clock, limits: { resumes: 1 } })
    const { run } = await first.start('restless')
    let last = first
    for (; left >= 0; left -= 1) {
      await last.engine.shutdown(60_000)
      last = bench([restless], { log, clock, limits: { resumes: 1 } })
      await last.engine.recover()
    }
    expect(await last.engine.wait('s', run)).toBe('done')
  })

  test('gives the run of another agent its time, and then ends it', async () => {
    const clock = { now: 1_000 }
    const log = sharedLog(() => clock.now)
    const door = gate()
    const short = scripted('short', async function* () {
      await door.opened
      yield note('done')
    })
    const long = scripted('long', async function* (_, { signal }) {
      yield note('on')
      await aborted(signal)
    })
    const own = bench([short, long], { log, clock })
    const quick = await own.start('short', { session: 'a' })
    const slow = await own.start('long', { session: 'b' })
    const down = own.engine.shutdown(50)
    door.open()
    await down
    expect(await ending(own, quick.run, 'a')).toMatchObject({ outcome: 'done' })
    expect(await ending(own, slow.run, 'b')).toMatchObject({ outcome: 'cancelled' })
  })

  test('of one process alone ends the run too: no other one would go on with it', async () => {
    const own = bench([stepper])
    const { run } = await own.start('stepper')
    await own.engine.shutdown(0)
    expect(await ending(own, run)).toMatchObject({ outcome: 'cancelled' })
  })
})

describe('a process that hears nothing of its log', () => {
  test('stops its agent after the term of its lease, although no call fails', async () => {
    const clock = { now: 1_000 }
    const log = sharedLog(() => clock.now)
    const stopped = gate()
    const agent = scripted('deaf', async function* (_, { signal }) {
      yield note('on')
      await aborted(signal)
      stopped.open()
    })
    const own = bench([agent], { log: { ...log, renew: () => new Promise(() => {}) }, clock, limits: { leaseTtl: 60 } })
    const { run } = await own.start('deaf')
    await stopped.opened
    await own.engine.shutdown(0)
    expect(await own.kinds(run)).toEqual(['run.started', 'log'])
    expect(own.audit.at(-1)).toMatchObject({ action: 'run.lost' })
  })
})
