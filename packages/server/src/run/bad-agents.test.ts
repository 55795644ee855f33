import { describe, expect, test } from 'vitest'
import { type Bench, bench, ending, note, type Script, said, scripted } from '../../../../test/kit/engine-kit.ts'

const quick = scripted('quick', async function* () {
  yield note('fine')
})
const forever = new Promise<never>(() => {})

/** Runs the script until its one end, then starts another run: the session must be free. */
async function endOf(script: Script, limits: object = {}): Promise<{ own: Bench; run: string; end: unknown }> {
  const own = bench([scripted('bad', script), quick], { limits })
  const { run } = await own.start('bad')
  await own.engine.wait('s', run)
  const end = await ending(own, run)
  // Without those limits: a run that is to end well has all the time that it needs.
  const after = bench([quick], { log: own.log, clock: own.clock })
  const next = await after.start('quick', { run: 'after' })
  expect(await after.engine.wait('s', next.run)).toBe('done')
  expect(await ending(own, run)).toEqual(end)
  return { own, run, end }
}
const failed = (code: string) =>
  expect.objectContaining({ outcome: 'failed', error: expect.objectContaining({ code }) })

const values: [string, () => unknown, string][] = [
  ['nothing', () => undefined, 'garbage'],
  ['null', () => null, 'garbage'],
  ['text', () => 'hello', 'garbage'],
  ['a number', () => 7, 'garbage'],
  ['a symbol', () => Symbol('x'), 'garbage'],
  ['a list', () => [note('x')], 'garbage'],
  ['an unknown kind', () => ({ kind: 'nonsense' }), 'garbage'],
  ['a kind of Object.prototype', () => ({ kind: 'constructor' }), 'garbage'],
  ['a second start', () => ({ kind: 'run.started', agent: 'a', input: { messages: [] } }), 'garbage'],
  ['a bigint inside', () => ({ ...note('x'), data: { n: 1n } }), 'garbage'],
  ['a function inside', () => ({ ...note('x'), data: { f: () => {} } }), 'garbage'],
  ['bytes inside', () => ({ ...note('x'), data: { b: new Uint8Array(3) } }), 'garbage'],
  ['a Map inside', () => ({ ...note('x'), data: { m: new Map() } }), 'garbage'],
  ['a Map where a known object belongs', () => said('m', 'x', { usageMetadata: new Map() }), 'garbage'],
  ['a Date where a known object belongs', () => said('m', 'x', { actions: new Date(0) }), 'garbage'],
  [
    'a value that contains itself',
    () => {
      const data: Record<string, unknown> = {}
      data.self = data
      return { ...note('x'), data }
    },
    'garbage',
  ],
  [
    'a getter that throws',
    () => ({
      ...note('x'),
      get data() {
        throw new Error('no')
      },
    }),
    'agent-error',
  ],
  ['5 MB', () => note('x'.repeat(5_000_000)), 'limit'],
  ['100,000 small values', () => ({ ...note('x'), data: Array(600_000).fill(1) }), 'limit'],
]

describe('whatever an agent does, its run has one end and its session is free', () => {
  test.each(values)('yields %s', async (_, value, code) => {
    const { end, own, run } = await endOf(async function* () {
      yield note('before')
      yield value()
      yield note('after')
    })
    expect(end).toEqual(failed(code))
    const kinds = await own.kinds(run)
    expect(kinds.filter((kind) => kind === 'log')).toHaveLength(1)
    if (code !== 'agent-error') expect(kinds).toContain('foreign')
  })

  test('a value that is not an event is recorded as foreign, as far as it can be printed', async () => {
    const { own } = await endOf(async function* () {
      yield { kind: 'nonsense', text: 'look here' }
    })
    const kept = (await own.rows()).find(({ event }) => event.kind === 'foreign')?.event
    expect(kept).toMatchObject({ dialect: 'agent', raw: '{"kind":"nonsense","text":"look here"}' })
  })

  test('throws at once, later, not an Error, or nothing', async () => {
    const error = new Error('boom')
    const throws = (what: unknown): Script =>
      async function* () {
        yield note('x')
        throw what
      }
    expect(
      (
        await endOf(() => {
          throw error
        })
      ).end,
    ).toMatchObject({ error: { code: 'agent-error', message: 'boom' } })
    expect((await endOf(throws(error))).end).toMatchObject({ error: { code: 'agent-error', message: 'boom' } })
    expect((await endOf(throws('text'))).end).toMatchObject({ error: { message: 'text' } })
    expect((await endOf(throws(undefined))).end).toMatchObject({
      error: { message: 'the agent threw without a message' },
    })
    expect((await endOf(throws(new Error('x'.repeat(1e6))))).end).toMatchObject({
      error: { message: 'x'.repeat(2000) },
    })
  })

  test('returns no stream', async () => {
    expect((await endOf(() => ({}) as AsyncIterable<unknown>)).end).toEqual(failed('garbage'))
    expect((await endOf(() => undefined as never)).end).toEqual(failed('agent-error'))
  })

  test('hangs: the timeout ends it', async () => {
    const hang = async function* () {
      yield note('x')
      await forever
    }
    expect((await endOf(hang, { timeout: 20 })).end).toEqual(failed('timeout'))
  })

  test('never yields the thread: the timeout ends it all the same', async () => {
    const busy = async function* () {
      for (;;) yield note('x')
    }
    expect((await endOf(busy, { timeout: 20 })).end).toEqual(failed('timeout'))
  })

  test('yields more events than the limit', async () => {
    const { end, own, run } = await endOf(
      async function* () {
        for (;;) yield note('x')
      },
      { events: 1000 },
    )
    expect(end).toEqual(failed('limit'))
    expect(await own.kinds(run)).toHaveLength(1002)
  })

  test('ignores abort: the run ends at once, the session is free after the grace period', async () => {
    const own = bench([
      scripted('deaf', async function* () {
        await forever
        yield note('x')
      }),
      quick,
    ])
    const { run } = await own.start('deaf')
    expect(await own.engine.cancel('s')).toBe(true)
    expect(await ending(own, run)).toMatchObject({ outcome: 'cancelled' })
    const next = await own.start('quick')
    expect(await own.engine.wait('s', next.run)).toBe('done')
  })

  test('goes on after abort: nothing of it is recorded', async () => {
    let more = (): void => {}
    const stubborn: Script = async function* () {
      await new Promise<void>((resolve) => {
        more = resolve
      })
      yield note('late')
      yield note('later')
    }
    const own = bench([scripted('stubborn', stubborn)])
    const { run } = await own.start('stubborn')
    await own.engine.cancel('s')
    more()
    await own.engine.shutdown(1000)
    expect(await own.kinds(run)).toEqual(['run.started', 'run.finished'])
  })

  test('goes on after its own end: nothing of it is recorded, and it is stopped', async () => {
    let cleaned = false
    const { end, own, run } = await endOf(async function* () {
      try {
        yield { kind: 'run.finished', outcome: 'done', result: { answer: 42 } }
        yield note('late')
      } finally {
        cleaned = true
      }
    })
    expect(end).toMatchObject({ outcome: 'done', result: { answer: 42 } })
    expect(await own.kinds(run)).toEqual(['run.started', 'run.finished'])
    expect(cleaned).toBe(true)
  })

  test('throws while it cleans up: the end stays as it is', async () => {
    const { end } = await endOf(async function* () {
      try {
        yield { kind: 'run.finished', outcome: 'done' }
      } finally {
        // biome-ignore lint/correctness/noUnsafeFinally: the point of the test
        throw new Error('in finally')
      }
    })
    expect(end).toMatchObject({ outcome: 'done' })
  })

  test('the signal fires with the reason when it is stopped, and not when it ends by itself', async () => {
    const reasons: unknown[] = []
    const watcher: Script = async function* (_, { signal }) {
      signal.addEventListener('abort', () => reasons.push(signal.reason))
      yield note('x')
    }
    await endOf(watcher)
    expect(reasons).toEqual([])
    await endOf(
      async function* (input, context) {
        yield* watcher(input, context)
        await forever
      },
      { timeout: 20 },
    )
    expect(reasons).toMatchObject([{ code: 'timeout' }])
  })
})
