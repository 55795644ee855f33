import { type MillraceError, memoryLog } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { bench, delta, ending, note, nothing, said, scripted } from '../../../../test/kit/engine-kit.ts'
import { aborted, gate } from '../../../../test/kit/waiting.ts'
import { runEngine } from './engine.ts'

const quick = scripted('quick', async function* () {
  yield note('hello')
})
/** Yields one event, then waits for the abort. */
const patient = scripted('patient', async function* (_, { signal }) {
  yield note('waiting')
  await aborted(signal)
})

describe('a run', () => {
  test('is started, recorded and ended; start resolves once its first row is committed', async () => {
    const { start, engine, kinds, rows } = bench([quick])
    const { run, seq } = await start('quick', { input: { messages: [], props: { a: 1 } } })
    expect((await rows())[0]).toMatchObject({ seq, run, event: { kind: 'run.started', input: { props: { a: 1 } } } })
    expect(await engine.wait('s', run)).toBe('done')
    expect(await kinds(run)).toEqual(['run.started', 'log', 'run.finished'])
  })

  test('frees its session and its slot when it is over', async () => {
    const { start, engine, log } = bench([quick], { limits: { perProcess: 1 } })
    for (let i = 0; i < 3; i += 1) {
      const { run } = await start('quick')
      await engine.wait('s', run)
    }
    await engine.shutdown(1000)
    expect(engine.active).toBe(0)
    expect(await log.expired('me')).toEqual([])
  })

  test('sees the history and the state before it, and client state merged', async () => {
    const seen: unknown[] = []
    const agent = scripted('stateful', async function* (_, { history, state, resumed }) {
      seen.push({ rows: history.length, state, resumed })
      yield { kind: 'state', patch: [{ op: 'add', path: '/count', value: seen.length }] }
    })
    const { start, engine } = bench([agent])
    await engine.wait('s', (await start('stateful', { input: { messages: [], state: { name: 'x' } } })).run)
    await engine.wait('s', (await start('stateful', { input: { messages: [], state: { name: 'y' } } })).run)
    expect(seen).toEqual([
      { rows: 0, state: { name: 'x' }, resumed: false },
      { rows: 3, state: { name: 'y', count: 1 }, resumed: false },
    ])
  })

  test('sums the usage of aggregates, not of partials; usage that the agent reports itself is kept', async () => {
    const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 2 }
    const spender = scripted('spender', async function* () {
      yield said('m', 'a', { partial: true, usageMetadata })
      yield said('m', 'ab', { usageMetadata })
      yield said('n', 'c', { usageMetadata })
    })
    const counter = scripted('counter', async function* () {
      yield said('m', 'ab', { usageMetadata })
      yield { kind: 'run.finished', outcome: 'done', usage: { totalTokens: 9 } }
    })
    const own = bench([spender, counter])
    const { run } = await own.start('spender')
    await own.engine.wait('s', run)
    expect(await ending(own, run)).toMatchObject({ usage: { inputTokens: 10, outputTokens: 4, modelCalls: 2 } })
    const { run: second } = await own.start('counter')
    await own.engine.wait('s', second)
    expect(await ending(own, second)).toMatchObject({ usage: { totalTokens: 9 } })
  })

  test('closes what it left open before its end, the innermost first', async () => {
    const messy = scripted('messy', async function* () {
      yield { kind: 'node.started', node: 'a@1', agent: 'a' }
      yield { kind: 'node.started', node: 'a/b@1', agent: 'b', parent: 'a@1' }
      yield { kind: 'node.started', node: 'a/c@1', agent: 'c', parent: 'a@1' }
      yield { kind: 'node.finished', node: 'a/c@1', status: 'ok' }
      throw new Error('boom')
    })
    const own = bench([messy])
    const { run } = await own.start('messy')
    expect(await own.engine.wait('s', run)).toBe('failed')
    const error = { code: 'agent-error', message: 'boom' }
    expect((await own.rows()).slice(-3).map(({ event }) => event)).toEqual([
      { kind: 'node.finished', node: 'a/b@1', status: 'error', error },
      { kind: 'node.finished', node: 'a@1', status: 'error', error },
      { kind: 'run.finished', outcome: 'failed', error },
    ])
  })

  test('a start needs a session of that user, a known agent, and an id that is new', async () => {
    const { start, engine, log, audit } = bench([quick])
    const { run } = await start('quick', { run: 'r1' })
    await engine.wait('s', run)
    const request = { session: 's', user: 'u', agent: 'quick', input: nothing }
    await expect(engine.start({ ...request, run: 'r1' })).rejects.toMatchObject({ code: 'conflict' })
    await expect(engine.start({ ...request, agent: 'x' })).rejects.toMatchObject({ code: 'not-found' })
    await expect(engine.start({ ...request, session: 'x' })).rejects.toMatchObject({ code: 'not-found' })
    await expect(engine.start({ ...request, user: 'x' })).rejects.toMatchObject({ code: 'not-found' })
    expect(await log.expired('me')).toEqual([])
    expect(audit.map(({ action }) => action)).toEqual(['run.start', 'run.finish', ...Array(4).fill('run.refuse')])
  })

  test('the first run of a fork says what it branched from, the second does not', async () => {
    const { start, engine, log, rows } = bench([quick])
    await log.restore({ id: 's', user: 'u', agent: 'quick', forkOf: { session: 'old', seq: 7 } }, [])
    await engine.wait('s', (await start('quick', { parent: 'p' })).run)
    await engine.wait('s', (await start('quick')).run)
    const started = (await rows()).filter(({ event }) => event.kind === 'run.started').map(({ event }) => event)
    expect(started[0]).toMatchObject({ forkOf: { session: 'old', seq: 7 }, parent: 'p' })
    expect(started[1]).not.toHaveProperty('forkOf')
  })
})

describe('cancel', () => {
  test('before the first event of the agent', async () => {
    const mute = scripted('mute', (_, { signal }) => ({
      [Symbol.asyncIterator]: () => ({
        next: async () => {
          await aborted(signal)
          return { done: true, value: undefined }
        },
      }),
    }))
    const own = bench([mute])
    const { run } = await own.start('mute')
    expect(await own.engine.cancel('s')).toBe(true)
    expect(await own.kinds(run)).toEqual(['run.started', 'run.finished'])
    expect(await ending(own, run)).toMatchObject({ outcome: 'cancelled', error: { code: 'cancelled' } })
  })

  test('while the run is only starting', async () => {
    const own = bench([patient])
    const started = own.start('patient')
    await Promise.resolve()
    const [{ run }] = await Promise.all([started, own.log.get('s').then(() => own.engine.cancel('s'))])
    await own.engine.cancel('s')
    expect(await ending(own, run)).toMatchObject({ outcome: 'cancelled' })
  })

  test('twice at once: one end; after the end: nothing to cancel', async () => {
    const own = bench([patient])
    const { run } = await own.start('patient')
    const [first] = await Promise.all([own.engine.cancel('s'), own.engine.cancel('s', run)])
    expect(first).toBe(true)
    expect(await own.engine.cancel('s')).toBe(false)
    expect(await ending(own, run)).toMatchObject({ outcome: 'cancelled' })
    await own.engine.shutdown(1000)
    expect(await own.engine.cancel('s', run)).toBe(false)
    expect(await own.engine.cancel('nobody')).toBe(false)
  })

  test('of another run than the active one does nothing', async () => {
    const own = bench([patient])
    const { run } = await own.start('patient')
    expect(await own.engine.cancel('s', 'other')).toBe(false)
    expect(own.engine.active).toBe(1)
    expect(await own.engine.cancel('s', run)).toBe(true)
  })

  test('of a run that another process drives: its writer is refused from there on', async () => {
    const own = bench([patient])
    const other = bench([patient], { log: own.log, owner: 'other', clock: own.clock, limits: { leaseTtl: 30 } })
    const { run } = await other.start('patient')
    expect(await own.engine.cancel('s', run)).toBe(true)
    expect(await ending(own, run)).toMatchObject({ outcome: 'cancelled' })
    expect(await other.engine.wait('s', run)).toBe('cancelled')
    expect(other.audit.at(-1)).toMatchObject({ action: 'run.lost' })
  })
})

describe('SPEC 4.3: one run at a time', () => {
  test('two starts at once: with a reader the second is refused', async () => {
    const own = bench([patient])
    await own.log.create({ id: 's', user: 'u', agent: 'patient' })
    const [first, second] = await Promise.allSettled([
      own.start('patient', { attach: true }),
      own.start('patient', { attach: true }),
    ])
    expect(first.status).toBe('fulfilled')
    expect(second).toMatchObject({ status: 'rejected', reason: { code: 'busy' } })
    await own.engine.cancel('s')
    expect((await own.rows()).filter(({ event }) => event.kind === 'run.finished')).toHaveLength(1)
  })

  test('a start that is asked again under its own id does not supersede itself', async () => {
    const { start, engine, log } = bench([patient])
    await start('patient', { run: 'r' })
    await expect(start('patient', { run: 'r' })).rejects.toMatchObject({ code: 'conflict' })
    expect(await log.get('s')).toMatchObject({ status: 'running', lastRun: 'r', runs: 1 })
    await engine.cancel('s')
  })

  test('two starts at once: without a reader the second supersedes the first', async () => {
    const own = bench([patient, quick])
    await own.log.create({ id: 's', user: 'u', agent: 'patient' })
    const [first, second] = await Promise.all([own.start('patient'), own.start('quick')])
    expect(await own.engine.wait('s', first.run)).toBe('cancelled')
    expect(await own.engine.wait('s', second.run)).toBe('done')
    const rows = await own.rows()
    const end = rows.findIndex(({ run, event }) => run === first.run && event.kind === 'run.finished')
    const start = rows.findIndex(({ run }) => run === second.run)
    expect(end).toBeLessThan(start)
    expect(rows[end]?.event).toMatchObject({ error: { message: `superseded by run ${second.run}` } })
  })

  test('a reader makes the session busy until it leaves, and leaving twice counts once', async () => {
    const own = bench([patient, quick])
    await own.start('patient')
    const leave = own.engine.attach('s')
    const stay = own.engine.attach('s')
    leave()
    leave()
    await expect(own.start('quick')).rejects.toMatchObject({ code: 'busy' })
    stay()
    const { run } = await own.start('quick')
    expect(await own.engine.wait('s', run)).toBe('done')
  })

  test('a start with patience waits for the reader to leave, no longer than asked, and does not block a cancel', async () => {
    const own = bench([patient, quick])
    const first = await own.start('patient', { attach: true })
    const waiting = own.start('quick', { patience: 60_000 })
    setImmediate(first.leave)
    const { run } = await waiting
    expect(await own.engine.wait('s', first.run)).toBe('cancelled')
    expect(await own.engine.wait('s', run)).toBe('done')

    const read = await own.start('patient', { attach: true })
    await expect(own.start('quick', { patience: 5 })).rejects.toMatchObject({ code: 'busy' })
    const late = own.start('quick', { patience: 60_000 })
    // Its reader stays, as a reader of the whole session does, but the run has ended.
    expect(await own.engine.cancel('s', read.run)).toBe(true)
    expect(await own.engine.wait('s', (await late).run)).toBe('done')
    expect(own.audit.filter(({ action }) => action === 'run.refuse')).toHaveLength(1)
  })

  test('leaving is not stopping, unless that was asked for', async () => {
    const own = bench([patient])
    const calm = await own.start('patient', { attach: true })
    calm.leave()
    expect(own.engine.active).toBe(1)
    await own.engine.cancel('s')
    const other = await own.start('patient', { session: 't', attach: true, cancelOnDisconnect: true })
    const second = own.engine.attach('t')
    other.leave()
    expect(own.engine.active).toBeGreaterThan(0)
    second()
    expect(await own.engine.wait('t', other.run)).toBe('cancelled')
  })

  test('limits per process and per user hold for starts that come at once', async () => {
    const own = bench([patient], { limits: { perProcess: 3, perUser: 2 } })
    const ask = (session: string, user: string) => own.start('patient', { session, user })
    const results = await Promise.allSettled([
      ask('a', 'u'),
      ask('b', 'u'),
      ask('c', 'u'),
      ask('d', 'v'),
      ask('e', 'w'),
    ])
    const codes = results.map((result) =>
      result.status === 'rejected' ? (result.reason as MillraceError).facts.limit : 'ok',
    )
    expect(codes).toEqual(['ok', 'ok', 'perUser', 'ok', 'perProcess'])
    // A run that supersedes another of the same user needs no further slot.
    expect((await ask('a', 'u')).run).toBeDefined()
    await own.engine.cancel('b')
    await own.engine.shutdown(0)
    expect(own.engine.active).toBe(0)
  })
})

describe('waiting and ending', () => {
  test('wait resolves at once for an old run, and rejects for an unknown one', async () => {
    const own = bench([quick])
    const { run } = await own.start('quick')
    await own.engine.shutdown(1000)
    const later = bench([quick], { log: own.log, clock: own.clock })
    expect(await later.engine.wait('s', run)).toBe('done')
    await expect(later.engine.wait('s', 'x')).rejects.toMatchObject({ code: 'not-found' })
    await expect(later.engine.wait('x', run)).rejects.toMatchObject({ code: 'not-found' })
  })

  test('shutdown takes no more runs, lets them finish, and cancels those that do not', async () => {
    const door = gate()
    const slow = scripted('slow', async function* () {
      await door.opened
      yield note('done')
    })
    const own = bench([slow, patient])
    const willFinish = await own.start('slow')
    const wontFinish = await own.start('patient', { session: 't' })
    const down = own.engine.shutdown(50)
    await expect(own.start('slow', { session: 'v' })).rejects.toMatchObject({ code: 'unavailable' })
    door.open()
    await down
    expect(await ending(own, willFinish.run)).toMatchObject({ outcome: 'done' })
    expect(await ending(own, wontFinish.run, 't')).toMatchObject({
      outcome: 'cancelled',
      error: { message: 'the server is shutting down' },
    })
    expect(await own.log.expired('me')).toEqual([])
  })

  test('a run goes on when the audit callback throws', async () => {
    const log = memoryLog(() => 1)
    await log.create({ id: 's', user: 'u', agent: 'quick' })
    const onAudit = (): never => {
      throw new Error('disk full')
    }
    const engine = runEngine({ log, agents: () => quick, now: () => 1, newId: () => 'r', owner: 'me', onAudit })
    const { run } = await engine.start({ session: 's', user: 'u', agent: 'quick', input: nothing })
    expect(await engine.wait('s', run)).toBe('done')
  })

  test('events that gathered during one commit go with the next, and the agent waits for the store', async () => {
    let produced = 0
    const eager = scripted('eager', async function* () {
      for (; produced < 1000; produced += 1) yield delta('m', `${produced}`)
    })
    const own = bench([eager], { limits: { buffer: 64 } })
    const batches: number[] = []
    let ahead = 0
    let committed = 0
    const { append } = own.log
    own.log.append = async (...args) => {
      await new Promise((resolve) => setTimeout(resolve, 1))
      const rows = await append(...args)
      batches.push(rows.length)
      ahead = Math.max(ahead, produced - committed)
      committed += rows.length
      return rows
    }
    const { run } = await own.start('eager')
    expect(await own.engine.wait('s', run)).toBe('done')
    expect(committed).toBe(1002)
    expect(batches.length).toBeLessThan(40)
    expect(ahead).toBeLessThanOrEqual(64 * 3)
  })
})
