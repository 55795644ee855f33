import { memoryLog } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { type Bench, bench, ending, note, scripted } from '../../../../test/kit/engine-kit.ts'
import { aborted } from '../../../../test/kit/waiting.ts'

/** An agent whose runs go on until they are let go, one by one, in the order in which they began. */
function held(name = 'held') {
  const begun: string[] = []
  const doors: (() => void)[] = []
  const agent = scripted(name, async function* (_, { session, signal }) {
    begun.push(session)
    const left = new Promise<void>((resolve) => doors.push(resolve))
    await Promise.race([left, aborted(signal)])
    yield note('done')
  })
  return { agent, begun, next: () => doors.shift()?.() }
}

const oneSlot = { perProcess: 1, queue: 10, queuePerUser: 10 }
const endOf = (own: Bench, session: string) => own.engine.wait(session, `run of ${session}`)
const startIn = (own: Bench, session: string, user = 'u', agent = 'held') =>
  own.start(agent, { session, user, run: `run of ${session}` })

describe('SPEC 4.8: runs that wait for a slot', () => {
  test('begin when there is one, in order; their start is in the log at once, and readers see that they wait', async () => {
    const { agent, begun, next } = held()
    const own = bench([agent], { limits: oneSlot })
    for (const session of ['a', 'b', 'c']) await startIn(own, session)
    expect(begun).toEqual(['a'])
    expect((await own.rows('b')).map(({ event }) => event)).toMatchObject([
      { kind: 'run.started', agent: 'held' },
      { kind: 'log', message: 'the run waits for a free slot' },
    ])
    for (const session of ['a', 'b', 'c']) {
      next()
      expect(await endOf(own, session)).toBe('done')
      await expect.poll(() => begun.length === 3 || begun.at(-1) !== session).toBe(true)
    }
    expect(begun).toEqual(['a', 'b', 'c'])
    expect(await own.kinds('run of c', 'c')).toEqual(['run.started', 'log', 'log', 'run.finished'])
    expect(own.audit.filter(({ session }) => session === 'c').map(({ action }) => action)).toEqual([
      'run.wait',
      'run.start',
      'run.finish',
    ])
  })

  test('a user with many waits behind one with few', async () => {
    const { agent, begun, next } = held()
    const own = bench([agent], { limits: oneSlot })
    for (const session of ['a1', 'a2', 'a3', 'a4']) await startIn(own, session, 'ada')
    await startIn(own, 'b1', 'bob')
    for (const session of ['a1', 'b1', 'a2', 'a3', 'a4']) {
      await expect.poll(() => begun.at(-1)).toBe(session)
      next()
    }
    expect(await endOf(own, 'a4')).toBe('done')
  })

  test('a user who has all the runs that one may have waits, and others do not', async () => {
    const { agent, begun } = held()
    const own = bench([agent], { limits: { perProcess: 9, perUser: 1, queue: 9, queuePerUser: 9 } })
    await startIn(own, 'a1', 'ada')
    await startIn(own, 'a2', 'ada')
    await startIn(own, 'b1', 'bob')
    await expect.poll(() => begun).toEqual(['a1', 'b1'])
    expect((await own.rows('b1')).map(({ event }) => event.kind)).toEqual(['run.started'])
    await own.engine.shutdown(0)
  })

  test('are bounded, of one user and in all: the next one is refused, and says when to try again', async () => {
    const { agent } = held()
    const own = bench([agent], { limits: { perProcess: 1, queue: 3, queuePerUser: 2 } })
    for (const session of ['a1', 'a2', 'a3']) await startIn(own, session, 'ada')
    const refused = { code: 'limit', facts: { retryAfter: 5 } }
    await expect(startIn(own, 'a4', 'ada')).rejects.toMatchObject(refused)
    await startIn(own, 'b1', 'bob')
    await expect(startIn(own, 'c1', 'cleo')).rejects.toMatchObject({ ...refused, message: /at most 3 runs/ })
    expect(await own.rows('c1')).toEqual([])
    await own.engine.shutdown(0)
  })

  test('many at once do not pass the limit together', async () => {
    const { agent } = held()
    const own = bench([agent], { limits: { perProcess: 1, queue: 3, queuePerUser: 9 } })
    const starts = await Promise.allSettled(Array.from({ length: 12 }, (_, i) => startIn(own, `s${i}`)))
    expect(starts.filter(({ status }) => status === 'fulfilled')).toHaveLength(4)
    await own.engine.shutdown(0)
  })

  test('a cancelled one ends without its agent', async () => {
    const { agent, begun, next } = held()
    const own = bench([agent], { limits: oneSlot })
    for (const session of ['a', 'b', 'c']) await startIn(own, session)
    expect(await own.engine.cancel('b')).toBe(true)
    expect(await ending(own, 'run of b', 'b')).toMatchObject({ outcome: 'cancelled' })
    next()
    await expect.poll(() => begun).toEqual(['a', 'c'])
    await own.engine.shutdown(0)
  })

  test('one without a reader is superseded by the next run of its session, and not by itself', async () => {
    const { agent } = held()
    const own = bench([agent], { limits: oneSlot })
    await startIn(own, 'a')
    await startIn(own, 'b')
    await expect(startIn(own, 'b')).rejects.toMatchObject({ code: 'conflict' })
    const leave = own.engine.attach('b')
    await expect(own.start('held', { session: 'b', run: 'next' })).rejects.toMatchObject({ code: 'busy' })
    leave()
    await own.start('held', { session: 'b', run: 'next' })
    expect(await ending(own, 'run of b', 'b')).toMatchObject({ outcome: 'cancelled' })
    await own.engine.shutdown(0)
  })

  test('are taken by another process when theirs is gone, also by one that lets none wait', async () => {
    const clock = { now: 1_000 }
    const log = memoryLog(() => clock.now)
    const first = bench([held().agent], { log, clock, owner: 'first', limits: oneSlot })
    for (const session of ['a', 'b']) await startIn(first, session)
    const { agent, begun, next } = held()
    const second = bench([agent], { log, clock, owner: 'second' })
    await second.engine.recover()
    await expect.poll(() => begun).toEqual(['b'])
    next()
    expect(await endOf(second, 'b')).toBe('done')
    await ending(second, 'run of b', 'b')
    await first.engine.shutdown(0)
  })

  test('of two processes that look at once, one takes a run', async () => {
    const clock = { now: 1_000 }
    const log = memoryLog(() => clock.now)
    const first = bench([held().agent], { log, clock, owner: 'first', limits: oneSlot })
    for (const session of ['a', 'b', 'c', 'd']) await startIn(first, session)
    const agents = [held(), held()]
    const others = agents.map(({ agent }, i) => bench([agent], { log, clock, owner: `other ${i}` }))
    await Promise.all(others.map(({ engine }) => engine.recover()))
    await expect.poll(() => agents.flatMap(({ begun }) => begun).sort()).toEqual(['b', 'c', 'd'])
    for (const { engine } of [first, ...others]) await engine.shutdown(0)
  })

  test('see the values that their user shares now', async () => {
    const seen: unknown[] = []
    const { agent, next } = held()
    const reader = scripted('reader', async function* (_, { state, history }) {
      seen.push(state, history)
      yield note('seen')
    })
    const own = bench([agent, reader], { limits: oneSlot })
    await startIn(own, 'a')
    await startIn(own, 'b', 'u', 'reader')
    await own.log.create({ id: 'c', user: 'u', agent: 'reader' })
    await own.log.append('c', [
      { run: '', event: { kind: 'state', patch: [{ op: 'add', path: '/user:mood', value: 'good' }] } },
    ])
    next()
    expect(await endOf(own, 'b')).toBe('done')
    expect(seen).toEqual([{ 'user:mood': 'good' }, []])
  })

  test('end truthfully when no process has their agent any more', async () => {
    const clock = { now: 1_000 }
    const log = memoryLog(() => clock.now)
    const first = bench([held().agent], { log, clock, owner: 'first', limits: oneSlot })
    for (const session of ['a', 'b']) await startIn(first, session)
    const second = bench([], { log, clock, owner: 'second' })
    await second.engine.recover()
    expect(await endOf(second, 'b')).toBe('failed')
    expect(await ending(second, 'run of b', 'b')).toMatchObject({ error: { code: 'not-found' } })
    await first.engine.shutdown(0)
  })

  test('wait again when the store fails before their agent is called', async () => {
    const { agent, begun, next } = held()
    const own = bench([agent], { limits: oneSlot })
    for (const session of ['a', 'b']) await startIn(own, session)
    const { facts } = own.log
    own.log.facts = () => Promise.reject(new Error('gone'))
    next()
    expect(await endOf(own, 'a')).toBe('done')
    await expect.poll(() => own.audit.some(({ action }) => action === 'run.unrecovered')).toBe(true)
    own.log.facts = facts
    await own.engine.recover()
    await expect.poll(() => begun).toEqual(['a', 'b'])
    next()
    expect(await endOf(own, 'b')).toBe('done')
  })
})
