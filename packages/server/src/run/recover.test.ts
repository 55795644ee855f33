import type { EventLog, Recorded, RunEvent } from '@millrace/core'
import { describe, expect, test, vi } from 'vitest'
import { bench, delta, ending, note, said, scripted } from '../../../../test/kit/engine-kit.ts'
import { aborted } from '../../../../test/kit/waiting.ts'
import { inOwnOrder } from './recovery.ts'

const started: RunEvent = { kind: 'run.started', agent: 'a', input: { messages: [], props: { ask: 1 } } }
const plain = scripted('a', async function* () {
  yield note('again')
})

/** What a process that died left behind: a lease of one second, and these events. */
async function left(log: EventLog, events: readonly RunEvent[], session = 's', owner = 'dead'): Promise<void> {
  await log.create({ id: session, user: 'u', agent: 'a' })
  const lease = await log.acquire(session, 'r', owner, 1000)
  await log.append(
    session,
    events.map((event) => ({ run: 'r', event })),
    lease,
  )
}

describe('SPEC 4.1: a run whose process died', () => {
  test('of many is left to the replica that is quicker: one that is slower tries three, and the rest at its next round', async () => {
    const { log, clock } = bench([plain])
    const sessions = Array.from({ length: 20 }, (_, i) => `s${i}`)
    for (const session of sessions) await left(log, [started], session)
    clock.now += 1000
    const tried: string[] = []
    let isFirst = true
    const late: EventLog = {
      ...log,
      // The other replica takes all runs over while this one still reads the list, and dies at once.
      expired: async (owner) => {
        const dead = await log.expired(owner)
        if (isFirst) for (const lease of dead) await log.takeOver(lease, 'another', 1000)
        isFirst = false
        return dead
      },
      takeOver: (lease, owner, ttl) => {
        tried.push(lease.session)
        return log.takeOver(lease, owner, ttl)
      },
    }
    const own = bench([plain], { log: late, clock })
    expect(await own.engine.recover()).toEqual({ failed: 0, resumed: 0 })
    expect(tried).toHaveLength(3)
    clock.now += 1000
    expect(await own.engine.recover()).toEqual({ failed: 20, resumed: 0 })
  })

  test('is tried first by few of many replicas, because each has an order of its own', () => {
    const dead = Array.from({ length: 50 }, (_, i) => ({ session: `s${i}` }))
    const firsts = Array.from({ length: 100 }, (_, i) => inOwnOrder(dead, `replica-${i}`)[0]?.session)
    expect(new Set(firsts).size).toBeGreaterThan(30)
    expect(inOwnOrder(dead, 'a').toSorted((x, y) => dead.indexOf(x) - dead.indexOf(y))).toEqual(dead)
  })

  test('gets its end once its lease ran out, what it left open closed, and the session is free', async () => {
    const own = bench([plain])
    await left(own.log, [started, { kind: 'node.started', node: 'a@1', agent: 'a' }, delta('m', 'hal')])
    expect(await own.engine.recover()).toEqual({ failed: 0, resumed: 0 })
    own.clock.now += 1000
    expect(await own.engine.recover()).toEqual({ failed: 1, resumed: 0 })
    expect(await ending(own, 'r')).toMatchObject({ outcome: 'failed', error: { code: 'crashed' } })
    expect((await own.kinds('r')).at(-2)).toBe('node.finished')
    expect(await own.engine.recover()).toEqual({ failed: 0, resumed: 0 })
    expect(await own.engine.wait('s', 'r')).toBe('failed')
    expect(await own.engine.wait('s', (await own.start('a')).run)).toBe('done')
    expect(own.audit[0]).toMatchObject({ action: 'run.crash', run: 'r', user: 'u' })
  })

  test('gets it at once when the process comes back under its own name', async () => {
    const own = bench([plain], { owner: 'me' })
    await left(own.log, [started], 's', 'me')
    expect(await own.engine.recover()).toEqual({ failed: 1, resumed: 0 })
    expect(await ending(own, 'r')).toMatchObject({ error: { code: 'crashed' } })
  })

  test('that had its end, or never began, only gives its lease back', async () => {
    const own = bench([plain])
    await left(own.log, [started, { kind: 'run.finished', outcome: 'done' }])
    await left(own.log, [], 't')
    own.clock.now += 1000
    expect(await own.engine.recover()).toEqual({ failed: 0, resumed: 0 })
    expect(await own.log.expired()).toEqual([])
    expect(await ending(own, 'r')).toMatchObject({ outcome: 'done' })
    expect(await own.rows('t')).toEqual([])
  })

  test('that had its end does not keep the next run out when the process comes back, sooner than recovery', async () => {
    const own = bench([plain], { owner: 'me' })
    await left(own.log, [started, { kind: 'run.finished', outcome: 'done' }], 's', 'me')
    const { run } = await own.start('a')
    expect(await own.engine.wait('s', run)).toBe('done')
    const other = bench([plain], { owner: 'another' })
    await left(other.log, [started, { kind: 'run.finished', outcome: 'done' }], 's', 'me')
    await expect(other.start('a')).rejects.toMatchObject({ code: 'busy' })
  })

  test('that no lease covers is ended too: an import as crashed, the half that a fork copied as cancelled', async () => {
    const own = bench([scripted('a', plain.run, true)])
    const rows: Recorded[] = [{ seq: 3, at: 1, run: 'r', event: started }]
    await own.log.restore({ id: 's', user: 'u', agent: 'a' }, rows)
    await own.log.restore({ id: 't', user: 'u', agent: 'a', forkOf: { session: 's', seq: 3 } }, rows)
    expect(await own.engine.recover()).toEqual({ failed: 2, resumed: 0 })
    expect(await ending(own, 'r', 's')).toMatchObject({ outcome: 'failed', error: { code: 'crashed' } })
    expect(await ending(own, 'r', 't')).toMatchObject({ outcome: 'cancelled' })
  })

  test('is ended before the next run of its session starts, when that comes sooner than recovery', async () => {
    const own = bench([plain])
    await left(own.log, [started])
    await expect(own.start('a')).rejects.toMatchObject({ code: 'busy' })
    own.clock.now += 1000
    const { run, seq } = await own.start('a')
    await own.engine.wait('s', run)
    const end = (await own.rows()).find((row) => row.run === 'r' && row.event.kind === 'run.finished')
    expect(end?.seq).toBeLessThan(seq)
    expect(await ending(own, 'r')).toMatchObject({ error: { code: 'crashed' } })
    expect(await own.engine.recover()).toEqual({ failed: 0, resumed: 0 })
    expect(await own.log.expired('me')).toEqual([])
  })

  test('is recovered by one of many that try at once', async () => {
    const own = bench([plain])
    const others = Array.from({ length: 4 }, (_, i) =>
      bench([plain], { log: own.log, clock: own.clock, owner: `other ${i}` }),
    )
    await left(own.log, [started])
    own.clock.now += 1000
    const counts = await Promise.all([own, ...others].map(({ engine }) => engine.recover()))
    expect(counts.reduce((sum, { failed }) => sum + failed, 0)).toBe(1)
    await ending(own, 'r')
  })

  test('does not stop the recovery of others when it cannot be recovered', async () => {
    const own = bench([plain])
    await left(own.log, [started], 'bad')
    await left(own.log, [started], 's')
    own.clock.now += 1000
    const { read } = own.log
    own.log.read = async (session, options) => {
      if (session === 'bad') throw new Error('damaged')
      return read(session, options)
    }
    expect(await own.engine.recover()).toEqual({ failed: 1, resumed: 0 })
    expect(own.audit).toContainEqual(expect.objectContaining({ action: 'run.unrecovered', session: 'bad' }))
  })
})

describe('SPEC 4.6: a resumable agent', () => {
  test('goes on: what was half said is superseded, what was done is in its history', async () => {
    const seen: unknown[] = []
    const agent = scripted(
      'a',
      async function* (input, { history, resumed, run, state }) {
        seen.push({ input, resumed, run, state, kinds: history.map(({ event }) => event.kind) })
        yield { kind: 'node.started', node: 'b@2', agent: 'b' }
        yield said('m2', 'whole')
        yield { kind: 'node.finished', node: 'b@2', status: 'ok' }
      },
      true,
    )
    const own = bench([agent])
    await left(own.log, [
      started,
      { kind: 'node.started', node: 'a@1', agent: 'a' },
      said('m1', 'done', { actions: { stateDelta: { step: 1 } } }),
      { kind: 'node.finished', node: 'a@1', status: 'ok' },
      { kind: 'node.started', node: 'b@1', agent: 'b' },
      delta('m2', 'ha'),
    ])
    own.clock.now += 1000
    expect(await own.engine.recover()).toEqual({ failed: 0, resumed: 1 })
    expect(await own.engine.wait('s', 'r')).toBe('done')
    expect(seen).toEqual([
      {
        input: { messages: [], props: { ask: 1 } },
        resumed: true,
        run: 'r',
        state: { step: 1 },
        kinds: ['run.started', 'node.started', 'agent', 'node.finished', 'node.started', 'agent', 'superseded'],
      },
    ])
    expect((await own.rows())[6]?.event).toEqual({ kind: 'superseded', messages: ['m2'], nodes: ['b@1'] })
    await ending(own, 'r')
    expect(await own.kinds('r')).toHaveLength(11)
    expect(own.audit.map(({ action }) => action)).toEqual(['run.resume', 'run.finish'])
  })

  test('is stopped like any other after it was taken up', async () => {
    const patient = scripted(
      'a',
      async function* (_, { signal }) {
        yield said('m2', 'again')
        await aborted(signal)
      },
      true,
    )
    const own = bench([patient])
    await left(own.log, [started, delta('m2', 'ha')])
    own.clock.now += 1000
    expect(await own.engine.recover()).toEqual({ failed: 0, resumed: 1 })
    expect(await own.engine.cancel('s', 'r')).toBe(true)
    expect(await ending(own, 'r')).toMatchObject({ outcome: 'cancelled' })
    expect(await own.engine.cancel('s', 'r')).toBe(false)
  })

  test('is not taken up for ever: a run that crashes its process each time fails in the end', async () => {
    const own = bench([scripted('a', plain.run, true)], { limits: { resumes: 2 } })
    const lost: RunEvent = { kind: 'superseded', messages: [], nodes: [] }
    await left(own.log, [started, lost, lost])
    own.clock.now += 1000
    expect(await own.engine.recover()).toEqual({ failed: 1, resumed: 0 })
    expect(await ending(own, 'r')).toMatchObject({ error: { code: 'crashed' } })
  })

  test('that cannot be described, or is gone, cannot go on', async () => {
    const broken = { ...plain, describe: async () => Promise.reject(new Error('does not load')) }
    const own = bench([broken])
    await left(own.log, [started])
    await left(own.log, [{ ...started, agent: 'gone' }], 't')
    own.clock.now += 1000
    expect(await own.engine.recover()).toEqual({ failed: 2, resumed: 0 })
  })
})

describe('leases', () => {
  test('a live run is kept by its heartbeat, and recovery leaves it alone', async () => {
    const patient = scripted('patient', async function* (_, { signal }) {
      yield note('x')
      await aborted(signal)
    })
    const own = bench([patient], { limits: { leaseTtl: 30 } })
    await own.start('patient')
    const [before] = await own.log.expired('me')
    own.clock.now += 1000
    expect(await own.engine.recover()).toEqual({ failed: 0, resumed: 0 })
    while ((await own.log.expired()).length > 0) await new Promise((resolve) => setImmediate(resolve))
    const [after] = await own.log.expired('me')
    expect(after?.until).toBeGreaterThan(before?.until ?? 0)
    await own.engine.cancel('s')
  })

  test('SPEC 2.7: whose run was taken over writes nothing more, and is stopped', async () => {
    let stopped: unknown
    let go = (): void => {}
    const zombie = scripted('zombie', async function* (_, { signal }) {
      signal.addEventListener('abort', () => {
        stopped = signal.reason
      })
      yield note('mine')
      await new Promise<void>((resolve) => {
        go = resolve
      })
      for (;;) yield note('zombie')
    })
    const own = bench([zombie])
    const { run } = await own.start('zombie')
    while ((await own.kinds(run)).length < 2) await new Promise((resolve) => setImmediate(resolve))
    const heir = await own.log.takeOver({ session: 's', run }, 'heir', 1000)
    go()
    while (own.engine.active > 0) await new Promise((resolve) => setImmediate(resolve))
    expect(stopped).toMatchObject({ code: 'lease-lost' })
    expect(await own.kinds(run)).toEqual(['run.started', 'log'])
    const waiting = own.engine.wait('s', run)
    await own.log.append('s', [{ run, event: { kind: 'run.finished', outcome: 'done' } }], heir)
    expect(await waiting).toBe('done')
  })
})

describe('SPEC 4.6: a run whose agent takes long to load after a crash', () => {
  /** Recovers while the agent does not answer. */
  const recoverLate = async (recover: () => Promise<unknown>): Promise<unknown> => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const recovered = recover()
      await vi.waitFor(() => expect(vi.getTimerCount()).toBeGreaterThan(0), { interval: 1 })
      await vi.advanceTimersByTimeAsync(5_000)
      return await recovered
    } finally {
      vi.useRealTimers()
    }
  }
  const slow = () => {
    let isLoaded = false
    const agent = scripted('a', plain.run, true)
    const describe = (): ReturnType<typeof agent.describe> => (isLoaded ? agent.describe() : new Promise(() => {}))
    return { agent: { ...agent, describe }, load: () => (isLoaded = true) }
  }

  test('goes on once the agent has loaded', async () => {
    const { agent, load } = slow()
    const own = bench([agent], { owner: 'me' })
    await left(own.log, [started], 's', 'me')
    expect(await recoverLate(() => own.engine.recover())).toEqual({ failed: 0, resumed: 0 })
    expect(await own.kinds('r')).toEqual(['run.started'])
    load()
    expect(await own.engine.recover()).toEqual({ failed: 0, resumed: 1 })
    expect(await own.engine.wait('s', 'r')).toBe('done')
  })

  test('is ended when it never does', async () => {
    const { agent } = slow()
    const own = bench([agent], { owner: 'me' })
    await left(own.log, [started], 's', 'me')
    expect(await recoverLate(() => own.engine.recover())).toEqual({ failed: 0, resumed: 0 })
    own.clock.now += 600_000
    expect(await recoverLate(() => own.engine.recover())).toEqual({ failed: 1, resumed: 0 })
    expect(await ending(own, 'r')).toMatchObject({ outcome: 'failed', error: { code: 'crashed' } })
  })
})
