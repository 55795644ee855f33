import { type Dialect, type Draft, memoryLog, type Recorded, type RunEvent } from '@millrace/core'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import type { Sink } from './reader.ts'
import { type StreamOptions, type Streams, type StreamsOptions, streams } from './streams.ts'

/** Prints the number of rows before, so that an encoder that was not warmed from row 1 prints something else. */
function counting(): Dialect & { pushed: number; made: number } {
  const dialect = {
    name: 'counting',
    pushed: 0,
    made: 0,
    decoder: () => ({ push: () => [], end: () => [], session: undefined }),
    recognises: () => false,
    encoder: () => {
      let rows = 0
      dialect.made += 1
      return {
        push: ({ event }: Recorded) => {
          rows += 1
          dialect.pushed += 1
          if (event.kind === 'log' && event.message === 'quiet') return []
          return [{ data: `${event.kind} ${rows}` }, { data: event.kind === 'log' ? event.message : '-' }]
        },
        prelude: () => [{ data: `prelude ${rows}` }],
      }
    },
  }
  return dialect
}

/** A sink that is full after `room` writes, until drained. */
class TestSink implements Sink {
  text = ''
  writes = 0
  ended = false
  destroyed = false
  chunked = false
  room = Number.POSITIVE_INFINITY
  held = 0
  #resume = (): void => {}
  write(bytes: Buffer): boolean {
    expect(this.ended).toBe(false)
    this.text += bytes.toString('utf8')
    this.writes += 1
    this.held += 1
    return this.held < this.room
  }
  onDrain(resume: () => void): void {
    this.#resume = resume
  }
  drain(): void {
    const full = this.held >= this.room
    this.held = 0
    if (full) this.#resume()
  }
  end(): void {
    this.ended = true
  }
  destroy(): void {
    this.destroyed = true
    this.ended = true
  }
}

const log1 = (message: string): RunEvent => ({ kind: 'log', level: 'info', message })
const started: RunEvent = { kind: 'run.started', agent: 'a', input: { messages: [] } }
const finished: RunEvent = { kind: 'run.finished', outcome: 'done' }

async function setup(options: Partial<StreamsOptions> = {}) {
  const log = memoryLog(() => 1)
  await log.create({ id: 's', user: 'u', agent: 'a' })
  const dialect = counting()
  const out = streams({ log, dialects: [dialect], ...options })
  const lease = async (run: string) => log.acquire('s', run, 'me', 1e9)
  const append = (...drafts: Draft[]) => log.append('s', drafts)
  return { log, dialect, out, lease, append }
}
const note = (message: string): Draft => ({ run: '', event: log1(message) })

/** What a reader of everything gets after `after`, made by a fresh encoder from row 1. */
async function expected(log: ReturnType<typeof memoryLog>, after: number, run?: string): Promise<string> {
  const encoder = counting().encoder({ session: 's' })
  let text = ''
  for (const row of await log.read('s', { after: 0 })) {
    const frames = encoder.push(row)
    if (row.seq <= after || (run !== undefined && row.run !== run)) continue
    text += frames.map((frame, i) => `${i === 1 ? `id: ${row.seq}\n` : ''}data: ${frame.data}\n\n`).join('')
  }
  return text
}
const retry = 'retry: 1000\n\n'

function follow(out: Streams, sink: Sink, options: Partial<StreamOptions> = {}) {
  const stop = new AbortController()
  const end = out.open('s', { dialect: 'counting', signal: stop.signal, ...options }, sink)
  return { end, leave: () => stop.abort() }
}
const settle = async (): Promise<void> => {
  for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve))
}

describe('streams', () => {
  test('replays what is stored, then follows, one id per event on its last frame', async () => {
    const { log, out, append } = await setup()
    await append(note('a'), note('quiet'), note('b'))
    const sink = new TestSink()
    const { end, leave } = follow(out, sink)
    await settle()
    expect(sink.text).toBe(retry + (await expected(log, 0)))
    await append(note('c'))
    await settle()
    expect(sink.text).toBe(retry + (await expected(log, 0)))
    leave()
    expect(await end).toBe('left')
    expect(sink.ended).toBe(true)
  })

  test('a cursor continues exactly; beyond the end it waits, and gets only what is beyond it', async () => {
    const { log, out, append } = await setup()
    await append(note('a'), note('b'))
    const middle = new TestSink()
    const beyond = new TestSink()
    follow(out, middle, { after: 1 })
    follow(out, beyond, { after: 4 })
    await settle()
    expect(middle.text).toBe(retry + (await expected(log, 1)))
    expect(beyond.text).toBe(retry)
    await append(note('c'), note('d'), note('e'))
    await settle()
    expect(middle.text).toBe(retry + (await expected(log, 1)))
    expect(beyond.text).toBe(retry + (await expected(log, 4)))
    out.close()
  })

  test('with a run: only that run, and the end with its terminal event, also when it is over already', async () => {
    const { log, out, append, lease } = await setup()
    await append(note('before'))
    for (const run of ['r1', 'r2']) {
      const held = await lease(run)
      const drafts = [started, log1(run), finished].map((event) => ({ run, event }))
      if (run === 'r2') {
        const sink = new TestSink()
        const { end } = follow(out, sink, { run, from: 'start' })
        await log.append('s', drafts, held)
        expect(await end).toBe('finished')
        expect(sink.text).toBe(retry + (await expected(log, 0, run)))
      } else await log.append('s', drafts, held)
      await log.release(held)
    }
    const late = new TestSink()
    expect(await follow(out, late, { run: 'r1', after: 2 }).end).toBe('finished')
    expect(late.text).toBe(retry + (await expected(log, 2, 'r1')))
    const after = new TestSink()
    expect(await follow(out, after, { run: 'r1', after: 1000 }).end).toBe('finished')
    expect(after.text).toBe(retry)
    expect(out.readers).toBe(0)
  })

  test('what a person did while the run was open is part of that run, what came before is not', async () => {
    const { log, out, append, lease } = await setup()
    await append(note('before'))
    const held = await lease('r')
    await log.append('s', [{ run: 'r', event: started }], held)
    await append(note('meanwhile'))
    await log.append('s', [{ run: 'r', event: finished }], held)
    await append(note('afterwards'))
    const sink = new TestSink()
    await follow(out, sink, { run: 'r' }).end
    expect(sink.text).toContain('data: meanwhile')
    expect(sink.text).not.toContain('data: before')
    expect(sink.text).not.toContain('data: afterwards')
  })

  test('joins live with the prelude and the cursor of one moment', async () => {
    const { log, out, append } = await setup()
    await append(note('a'), note('b'))
    const cold = new TestSink()
    follow(out, cold, { from: 'live' })
    await settle()
    expect(cold.text).toBe(`${retry}id: 2\ndata: prelude 2\n\n`)
    const warm = new TestSink()
    follow(out, warm, { from: 'live' })
    await settle()
    expect(warm.text).toBe(cold.text)
    await append(note('c'))
    await settle()
    expect(warm.text).toBe(`${retry}id: 2\ndata: prelude 2\n\n${await expected(log, 2)}`)
    out.close()
  })

  test('encodes each event once for a thousand readers, and drops the encoder with the last of them', async () => {
    const { dialect, out, append } = await setup()
    await append(note('a'))
    const sinks = Array.from({ length: 1000 }, () => new TestSink())
    const all = sinks.map((sink) => follow(out, sink))
    for (let i = 0; i < 10; i += 1) await append(note(`${i}`))
    await settle()
    expect(new Set(sinks.map((sink) => sink.text)).size).toBe(1)
    expect(dialect).toMatchObject({ made: 1, pushed: 11 })
    for (const { leave } of all) leave()
    follow(out, new TestSink())
    await settle()
    expect(dialect).toMatchObject({ made: 2, pushed: 22 })
    out.close()
  })

  test('a reader that comes back within the window costs no encoding', async () => {
    const { dialect, log, out, append } = await setup()
    follow(out, new TestSink())
    await append(...Array.from({ length: 100 }, (_, i) => note(`${i}`)))
    await settle()
    const sink = new TestSink()
    follow(out, sink, { after: 3 })
    await settle()
    expect(sink.text).toBe(retry + (await expected(log, 3)))
    expect(dialect).toMatchObject({ made: 1, pushed: 100 })
    out.close()
  })

  test('what piled up for a full reader goes in one write', async () => {
    const { log, out, append } = await setup()
    const sink = new TestSink()
    sink.room = 1
    follow(out, sink)
    for (let i = 0; i < 50; i += 1) await append(note(`${i}`))
    await settle()
    expect(sink.text).toBe(retry)
    sink.drain()
    expect(sink.writes).toBe(2)
    expect(sink.text).toBe(retry + (await expected(log, 0)))
    out.close()
  })

  test('a reader that falls out of the window reads the log, and comes back live to what the others share', async () => {
    const { log, dialect, out, append } = await setup({ retain: 50, ahead: 40 })
    const [slow, quick] = [new TestSink(), new TestSink()]
    slow.room = 1
    follow(out, slow)
    follow(out, quick)
    for (let i = 0; i < 30; i += 1) {
      await append(note(`${i}`))
      await settle()
    }
    expect(dialect.made).toBe(1)
    for (let before = -1; before < slow.text.length; ) {
      before = slow.text.length
      slow.drain()
      await settle()
    }
    expect(dialect.made).toBe(2) // one of its own, from row 1, while it was behind
    const pushed = dialect.pushed
    await append(note('live'))
    slow.drain()
    await settle()
    expect(dialect.pushed).toBe(pushed + 1) // and none after
    for (const { text } of [slow, quick]) expect(text).toBe(retry + (await expected(log, 0)))
    out.close()
  })

  test('HTTP chunk framing, where the sink wants it, is that of the same bytes', async () => {
    const { log, out, append } = await setup()
    const sink = new TestSink()
    sink.chunked = true
    sink.room = 1
    follow(out, sink)
    await append(note('æ'), note('quiet'), note('b'))
    await settle()
    sink.drain()
    expect(unchunk(sink.text)).toBe(retry + (await expected(log, 0)))
    out.close()
  })

  test('heartbeats every interval; a reader that takes nothing for too long is given up', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const { out } = await setup({ heartbeat: 15_000, patience: 3 })
      const sink = new TestSink()
      const stuck = new TestSink()
      stuck.room = 1
      follow(out, sink)
      const { end } = follow(out, stuck)
      vi.advanceTimersByTime(45_000)
      expect(sink.text).toBe(retry + ': heartbeat\n\n'.repeat(3))
      expect(await end).toBe('stalled')
      expect(stuck).toMatchObject({ text: retry, destroyed: true })
      expect(sink.ended).toBe(false)
      out.close()
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  test('a removed session ends its readers; a failing log ends them and says why', async () => {
    const { log, out } = await setup()
    const { end } = follow(out, new TestSink())
    await settle()
    await log.remove('s')
    expect(await end).toBe('removed')
    const errors: unknown[] = []
    const broken = streams({ log, dialects: [counting()], onError: (error) => errors.push(error) })
    expect(await follow(broken, new TestSink()).end).toBe('failed')
    expect(errors).toMatchObject([{ code: 'not-found' }])
  })

  test('an encoder or a format that throws, at once or later, is reported and breaks its readers off', async () => {
    const { log } = await setup()
    const errors: unknown[] = []
    const no = (): never => {
      throw new Error('no')
    }
    const { encoder } = counting()
    const format = { encoder, print: () => '', opening: '', heartbeat: '' }
    const formats = {
      never: { ...format, encoder: no },
      push: { ...format, encoder: () => ({ ...encoder({ session: 's' }), push: no }) },
      print: { ...format, print: no },
    }
    const out = streams({ log, dialects: [], formats, onError: (error) => errors.push(error) })
    const failing = async (options: Partial<StreamOptions>, cause: () => Promise<unknown>): Promise<void> => {
      const sink = new TestSink()
      const { end } = follow(out, sink, options)
      await cause()
      expect(await end).toBe('failed')
      // A sink that is only ended looks to the client like a stream that is complete.
      expect(sink.destroyed).toBe(true)
    }
    const append = () => log.append('s', [note('a')])
    await failing({ dialect: 'never' }, settle)
    await failing({ dialect: 'push' }, append)
    await failing({ dialect: 'print' }, append)
    await failing({ dialect: 'print', from: 'live' }, settle)
    expect(errors).toMatchObject(Array(4).fill({ message: 'no' }))
    expect(out.readers).toBe(0)
  })

  test('an encoder that cannot be made for a reader that fell behind is reported', async () => {
    const { log } = await setup()
    const errors: unknown[] = []
    const { encoder } = counting()
    let made = 0
    const once = () => {
      made += 1
      if (made > 1) throw new Error('no second')
      return encoder({ session: 's' })
    }
    const formats = { once: { encoder: once, print: () => 'x'.repeat(100), opening: '', heartbeat: '' } }
    const onError = (error: unknown): void => void errors.push(error)
    const out = streams({ log, dialects: [], formats, onError, retain: 0 })
    const [fast, slow] = [new TestSink(), new TestSink()]
    slow.room = 1
    const { leave } = follow(out, fast, { dialect: 'once' })
    const { end } = follow(out, slow, { dialect: 'once' })
    for (let i = 0; i < 3; i += 1) {
      await log.append('s', [note('a')])
      await settle()
    }
    slow.drain()
    expect(await end).toBe('failed')
    expect(errors).toMatchObject([{ message: 'no second' }])
    expect(slow.destroyed).toBe(true)
    expect(fast.ended).toBe(false)
    leave()
  })

  test('a sink that throws is a reader that left; an unknown dialect and a closed server are refused', async () => {
    const { out, append } = await setup()
    const sink = new TestSink()
    const { end } = follow(out, sink)
    sink.write = () => {
      throw new Error('EPIPE')
    }
    await append(note('a'))
    expect(await end).toBe('left')
    await expect(follow(out, new TestSink(), { dialect: 'nope' }).end).rejects.toMatchObject({ code: 'invalid' })
    out.close()
    await expect(follow(out, new TestSink()).end).rejects.toMatchObject({ code: 'unavailable' })
  })

  test('SPEC 2.5: whatever the window, the pace and the cursors, every reader gets exactly its rows', async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('append' as const), count: fc.integer({ min: 1, max: 40 }) }),
      fc.record({
        do: fc.constant('open' as const),
        after: fc.integer({ min: 0, max: 120 }),
        room: fc.constantFrom(1, 2, 99),
      }),
      fc.record({ do: fc.constant('drain' as const), which: fc.nat(20) }),
      fc.record({ do: fc.constant('leave' as const), which: fc.nat(20) }),
      fc.record({ do: fc.constant('settle' as const) }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40, size: 'max' }),
        fc.constantFrom(50, 500, 1e6),
        fc.constantFrom(40, 1e5),
        async (steps, retain, ahead) => {
          const { log, out, append } = await setup({ retain, ahead })
          const readers: { sink: TestSink; after: number; leave: () => void }[] = []
          for (const now of steps) {
            if (now.do === 'append')
              await append(...Array.from({ length: now.count }, (_, i) => note(i % 5 ? 'x' : 'quiet')))
            else if (now.do === 'open') {
              const sink = new TestSink()
              sink.room = now.room
              readers.push({ sink, after: now.after, ...follow(out, sink, { after: now.after }) })
            } else if (now.do === 'drain') readers[now.which]?.sink.drain()
            else if (now.do === 'leave') readers[now.which]?.leave()
            else await settle()
          }
          for (let quiet = 0; quiet < 3; ) {
            const before = readers.map(({ sink }) => sink.text.length).join()
            for (const { sink } of readers) sink.drain()
            await settle()
            quiet = before === readers.map(({ sink }) => sink.text.length).join() ? quiet + 1 : 0
          }
          for (const { sink, after } of readers) {
            const whole = retry + (await expected(log, after))
            if (sink.ended) expect(whole.startsWith(sink.text)).toBe(true)
            else expect(sink.text).toBe(whole)
          }
          out.close()
        },
      ),
      { numRuns: 300 },
    )
  })
})

function unchunk(text: string): string {
  const bytes = Buffer.from(text)
  let plain = ''
  for (let at = 0; at < bytes.length; ) {
    const line = bytes.indexOf('\r\n', at)
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16)
    expect(size).toBeGreaterThan(0)
    plain += bytes.toString('utf8', line + 2, line + 2 + size)
    expect(bytes.toString('latin1', line + 2 + size, line + 4 + size)).toBe('\r\n')
    at = line + 4 + size
  }
  return plain
}

describe('a stream that is given the start of its run', () => {
  test('reads nothing before it where its dialect can begin there; a reader of an earlier run still ends', async () => {
    const { log, append, lease, dialect } = await setup()
    const own = streams({ log, dialects: [{ ...dialect, fromFacts: true }] })
    const held = await lease('r1')
    const first = await log.append(
      's',
      [started, finished].map((event) => ({ run: 'r1', event })),
      held,
    )
    await log.release(held)
    await append(note('between'))
    const facts = await log.facts('s')
    const rows = await log.append('s', [{ run: 'r2', event: started }], await lease('r2'))
    const base = { facts, rows, earlier: () => Promise.reject(new Error('not needed')) }
    const [now, past] = [new TestSink(), new TestSink()]
    follow(own, now, { run: 'r2', after: facts.seq, base })
    await settle()
    expect(now.text).toBe(`${retry}data: run.started 1\n\nid: 4\ndata: -\n\n`)
    const ended = follow(own, past, { run: 'r1', after: first.at(-1)?.seq ?? 0 })
    expect(await ended.end).toBe('finished')
    own.close()
  })

  test('takes the earlier rows from its caller where its dialect needs every row', async () => {
    const { log, out, append, lease } = await setup()
    await append(note('a'), note('b'))
    const earlier = await log.read('s', { after: 0 })
    const facts = await log.facts('s')
    const rows = await log.append('s', [{ run: 'r', event: started }], await lease('r'))
    const read = vi.spyOn(log, 'follow')
    const sink = new TestSink()
    follow(out, sink, { run: 'r', after: 2, base: { facts, rows, earlier: async () => earlier } })
    await settle()
    expect(sink.text).toBe(retry + (await expected(log, 2, 'r')))
    expect(read.mock.calls.map(([, { after }]) => after)).toEqual([3])
    out.close()
  })
})
