import { describe, expect, test } from 'vitest'
import { adk } from '../dialect/adk/index.ts'
import { agUi } from '../dialect/ag-ui/index.ts'
import { millrace } from '../dialect/millrace/index.ts'
import { printRecorded } from '../dialect/millrace/wire.ts'
import type { Recorded } from '../event/run-event.ts'
import { connect } from './connect.ts'
import { type ConnectionState, type ConnectOptions, resolveUrl } from './connection.ts'
import { type FetchInit, type Host, webHost } from './host.ts'

interface Call extends FetchInit {
  readonly url: string
}
/** What a fake server does with one request: bytes in pieces, then an end, an error, or silence. */
interface Script {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly chunks?: readonly string[]
  readonly last?: 'end' | 'error' | 'hang'
}

const stream = { 'content-type': 'text/event-stream' }
const rejoinable = { ...stream, 'content-location': '/sessions/s/events?run=r' }

function fakeHost(scripts: readonly (Script | Error)[]) {
  const calls: Call[] = []
  const waits: number[] = []
  /** The inactivity limits that were set, in order. */
  const inactivities: number[] = []
  const host: Host = {
    now: () => 1000,
    random: () => 1,
    textDecoder: () => new TextDecoder(),
    abortController: () => new AbortController(),
    after(ms, callback) {
      // Back-off and inactivity fire once nothing else happens: no test waits for a clock.
      if (ms >= 45_000) {
        inactivities.push(ms)
        return () => {}
      }
      waits.push(ms)
      const timer = setImmediate(callback)
      return () => clearImmediate(timer)
    },
    async fetch(url, init) {
      const script = scripts[calls.length]
      calls.push({ url, ...init })
      if (script === undefined) return { status: 204, headers: { get: () => null }, text: async () => '', body: null }
      if (script instanceof Error) throw script
      const { status = 200, headers = stream, chunks = [], last = 'end' } = script
      let at = 0
      return {
        status,
        headers: { get: (name) => headers[name as keyof typeof headers] ?? null },
        async text() {
          if (last === 'hang') await aborted(init.signal as AbortSignal)
          return chunks.join('')
        },
        body: {
          getReader: () => ({
            async read() {
              const chunk = chunks[at++]
              if (chunk !== undefined) return { done: false, value: new TextEncoder().encode(chunk) }
              if (last === 'error') throw new Error('reset')
              if (last === 'hang') {
                await aborted(init.signal as AbortSignal)
              }
              return { done: true }
            },
            cancel: async () => undefined,
          }),
        },
      }
    },
  }
  return { host, calls, waits, inactivities }
}

/** A body of which nothing more comes: reading it fails once the request is aborted, and not before. */
async function aborted(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await new Promise<void>((resume) => signal.addEventListener('abort', () => resume()))
  throw new Error('aborted')
}

async function follow(scripts: readonly (Script | Error)[], options: Partial<ConnectOptions> = {}) {
  const { host, calls, waits, inactivities } = fakeHost(scripts)
  const states: ConnectionState[] = []
  const connection = connect('http://h/x/stream', {
    dialect: millrace,
    host,
    onState: (state) => states.push(state),
    ...options,
  })
  const rows: Recorded[] = []
  for await (const row of connection) rows.push(row)
  return { rows, calls, waits, inactivities, states, state: connection.state, cursor: connection.cursor }
}

const row = (seq: number, event: Recorded['event'] = { kind: 'log', level: 'info', message: `m${seq}` }): Recorded => ({
  seq,
  at: 5,
  run: 'r',
  event,
})
const frame = (recorded: Recorded): string => `id: ${recorded.seq}\ndata: ${printRecorded(recorded)}\n\n`
const agUiStarted = '{"type":"RUN_STARTED","threadId":"t","runId":"r"}'
const done = row(3, { kind: 'run.finished', outcome: 'done' })

describe('connect', () => {
  test('a run is followed to its end', async () => {
    const { rows, state, cursor } = await follow([
      { headers: rejoinable, chunks: [frame(row(1)), frame(row(2)), frame(done)] },
    ])
    expect(rows).toEqual([row(1), row(2), done])
    expect(state).toEqual({ phase: 'closed', how: 'ended' })
    expect(cursor).toBe(3)
  })

  test('SPEC 2.5: a cut is healed from the last whole event, half of one is not shown twice', async () => {
    const half = frame(row(2)).slice(0, 20)
    const { rows, calls, states } = await follow([
      { headers: rejoinable, chunks: [frame(row(1)), half], last: 'error' },
      { headers: rejoinable, chunks: [frame(row(2)), frame(done)] },
    ])
    expect(rows).toEqual([row(1), row(2), done])
    expect(calls[1]).toMatchObject({ url: 'http://h/sessions/s/events?run=r', method: 'GET' })
    expect(calls[1]?.headers['last-event-id']).toBe('1')
    expect(states.map(({ phase }) => phase)).toEqual(['connecting', 'open', 'waiting', 'connecting', 'open', 'closed'])
  })

  test('SPEC 2.5: ids that name their run are cursors too, and one without data is no event', async () => {
    const named = (recorded: Recorded): string => frame(recorded).replace('id: ', 'id: a:b:')
    const { rows, calls } = await follow([
      { headers: rejoinable, chunks: ['retry: 100\n\nid: a:b:0\n\n', named(row(1)), named(row(2))], last: 'error' },
      { headers: rejoinable, chunks: [frame(row(2)), frame(done)] },
    ])
    expect(rows).toEqual([row(1), row(2), done])
    expect(calls[1]?.headers).toMatchObject({ 'last-event-id': '2' })
  })

  test('an event of several frames is held until its id, so a cut between them doubles nothing', async () => {
    const said = (id: string, text: string) =>
      `data: ${JSON.stringify({ id, author: 'a', invocationId: 'i', timestamp: 1, content: { parts: [{ text }] } })}\n\n`
    const { rows } = await follow(
      [
        { headers: rejoinable, chunks: [said('e1', 'one')], last: 'error' },
        {
          headers: rejoinable,
          chunks: [said('e1', 'one'), `id: 2\n${said('e2', 'two')}`, ': run.finished done\nid: 3\n\n'],
        },
      ],
      { dialect: adk },
    )
    expect(rows.filter(({ event }) => event.kind === 'agent')).toHaveLength(2)
  })

  test('a started run is never POSTed again', async () => {
    const { calls, state } = await follow(
      [
        { headers: rejoinable, chunks: [frame(row(1))], last: 'error' },
        { status: 503, headers: { 'retry-after': '2' } },
        { headers: rejoinable, chunks: [frame(row(2)), frame(done)] },
      ],
      { body: { hello: 1 } },
    )
    expect(calls.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET'])
    expect(state).toEqual({ phase: 'closed', how: 'ended' })
  })

  test('a POST that was never answered is reported as cut, or followed where the caller knows its place', async () => {
    const lost = await follow([new Error('reset')], { body: {} })
    expect(lost.state).toMatchObject({ phase: 'closed', how: 'cut' })
    const known = await follow([new Error('reset'), { headers: rejoinable, chunks: [frame(done)] }], {
      body: {},
      reattach: 'http://h/sessions/s/events?run=r',
    })
    expect(known.calls.map(({ method }) => method)).toEqual(['POST', 'GET'])
    expect(known.state).toMatchObject({ how: 'ended' })
  })

  test.each<[string, Script, string, string]>([
    ['an HTML 200', { headers: { 'content-type': 'text/html' }, chunks: ['<p>'] }, 'refused', 'text/html'],
    ['an empty 200', { chunks: [] }, 'refused', 'empty'],
    ['a 404', { status: 404, chunks: ['{"detail":"no session"}'] }, 'refused', 'no session'],
    ['an error of OpenAI', { status: 400, chunks: ['{"error":{"message":"no key"}}'] }, 'refused', '400: no key'],
    ['an error without words', { status: 400, chunks: ['{"error":{"code":7}}'] }, 'refused', '400: {\\"code\\":7}'],
    ['a message', { status: 400, chunks: ['{"message":"not now"}'] }, 'refused', '400: not now'],
    ['a title', { status: 400, chunks: ['{"title":"gone"}'] }, 'refused', '400: gone'],
    ['a refusal that says nothing', { status: 400, chunks: ['{}'] }, 'refused', '400: {}'],
    ['a refusal in plain text', { status: 400, chunks: ['too large '] }, 'refused', '400: too large'],
    ['a page of a proxy', { status: 400, chunks: ['<html>'] }, 'refused', '"status 400"'],
    ['a truncated foreign stream', { chunks: ['data: {"id":'], last: 'end' }, 'cut', 'broke off'],
    ['a foreign stream that is reset', { chunks: [frame(row(1))], last: 'error' }, 'cut', 'broke off'],
  ])('%s is never a success', async (_name, script, how, message) => {
    const { state } = await follow([script])
    expect(state).toMatchObject({ phase: 'closed', how })
    expect(JSON.stringify(state)).toContain(message)
  })

  test('a plain ADK server ends with its stream', async () => {
    const event = { id: 'e', author: 'a', invocationId: 'i', timestamp: 1, content: { parts: [{ text: 'hi' }] } }
    const { rows, state } = await follow([{ chunks: [`data: ${JSON.stringify(event)}\n\n`] }], {
      dialect: adk,
      run: 'mine',
    })
    expect(rows.map(({ seq, event: { kind } }) => [seq, kind])).toEqual([
      [1, 'run.started'],
      [2, 'agent'],
      [3, 'run.finished'],
    ])
    expect(state).toEqual({ phase: 'closed', how: 'ended' })
  })

  test.each([
    ['that ends its run', [agUiStarted, '{"type":"RUN_FINISHED","threadId":"t","runId":"r"}'], 'ended'],
    ['that stops in the middle', [agUiStarted], 'cut'],
  ])('a stream of a plain AG-UI server %s is closed accordingly', async (_, events, how) => {
    const chunks = events.map((event) => `data: ${event}\n\n`)
    const { rows, state } = await follow([{ chunks }], { dialect: agUi, body: {} })
    expect(rows.map(({ event: { kind } }) => kind)).toEqual(['run.started', 'run.finished'].slice(0, events.length))
    expect(state).toMatchObject({ phase: 'closed', how })
  })

  test('back-off doubles to a cap, starts over after progress, and gives up after the most attempts', async () => {
    const down = new Error('refused')
    const { waits, state } = await follow(
      [down, down, down, { headers: rejoinable, chunks: [frame(row(1))] }, down, down, down, down],
      {
        maxAttempts: 3,
      },
    )
    expect(waits).toEqual([500, 1000, 2000, 500, 1000, 2000])
    expect(state).toMatchObject({ phase: 'closed', how: 'cut', problem: { code: 'remote-error' } })
  })

  test('a silent connection counts as dead', async () => {
    const { calls } = await follow(
      [
        { headers: rejoinable, chunks: [frame(row(1))], last: 'hang' },
        { headers: rejoinable, chunks: [frame(done)] },
      ],
      { inactivity: 7 },
    )
    expect(calls).toHaveLength(2)
  })

  test('a refusal whose body never arrives is a refusal too, and leaves nothing open', async () => {
    const { state, calls } = await follow([{ status: 500, last: 'hang' }], { inactivity: 7 })
    expect(state).toMatchObject({ phase: 'closed', how: 'refused', problem: { source: '500' } })
    expect(calls[0]?.signal.aborted).toBe(true)
    const page = await follow([{ headers: { 'content-type': 'text/html' }, chunks: ['<p>'], last: 'hang' }])
    expect(page.calls[0]?.signal.aborted).toBe(true)
  })

  test('the case of a media type does not count', async () => {
    const { state } = await follow([{ headers: { 'content-type': 'Text/Event-Stream' }, chunks: [frame(done)] }])
    expect(state).toEqual({ phase: 'closed', how: 'ended' })
  })

  test('a server that sends a comment and closes is asked less and less often', async () => {
    const greeting: Script = { headers: rejoinable, chunks: [': hello\n\n'] }
    const { waits, state } = await follow([greeting, greeting, greeting, greeting], { maxAttempts: 3 })
    expect(waits).toEqual([500, 1000, 2000])
    expect(state).toMatchObject({ phase: 'closed', how: 'cut' })
  })

  test.each([
    ['repeated', [row(1), row(2), row(2), row(1)]],
    ['out of order', [row(2), row(1)]],
  ])('rows that come %s are delivered once, and the cursor never goes back', async (_, again) => {
    const { rows, calls } = await follow([
      { headers: rejoinable, chunks: [row(1), ...again].map(frame), last: 'error' },
      { headers: rejoinable, chunks: ['id\n\n', frame(row(1)), frame(row(2)), frame(done)] },
    ])
    expect(rows).toEqual([row(1), row(2), done])
    expect(calls[1]?.headers['last-event-id']).toBe('2')
  })

  test('a timer that is too long for the platform does not fire at once', () => {
    const set: number[] = []
    const host = webHost({ ...globalThis, setTimeout: (_: () => void, ms: number) => set.push(ms) })
    for (const ms of [5, Number.POSITIVE_INFINITY, 1e15]) host.after(ms, () => {})
    expect(set).toEqual([5, 2 ** 31 - 1, 2 ** 31 - 1])
  })

  test('a connection may be silent for three heartbeats of Millrace, and longer on other servers', async () => {
    const ours = await follow([
      { headers: rejoinable, chunks: [frame(row(1))] },
      { headers: rejoinable, chunks: [frame(done)] },
    ])
    expect(new Set(ours.inactivities.slice(1))).toEqual(new Set([45_000]))
    const others = await follow([{ chunks: [frame(done)] }])
    expect(new Set(others.inactivities)).toEqual(new Set([120_000]))
  })

  test('a stream may ask for its own reconnection time', async () => {
    const { waits } = await follow([
      { headers: rejoinable, chunks: ['retry: 3000\n\n', frame(row(1))] },
      new Error('down'),
      new Error('down'),
      { headers: rejoinable, chunks: [frame(done)] },
    ])
    expect(waits).toEqual([3000, 6000, 12_000])
    const hasty = await follow([
      { headers: rejoinable, chunks: ['retry: 0\n\n', frame(row(1))] },
      { headers: rejoinable, chunks: [frame(done)] },
    ])
    expect(hasty.waits).toEqual([100])
  })

  test('after its reader closes it, rows that have arrived are not delivered', async () => {
    const { host } = fakeHost([{ headers: rejoinable, chunks: [frame(row(1)) + frame(row(2)) + frame(done)] }])
    const connection = connect('http://h/', { dialect: millrace, host })
    const seqs: number[] = []
    for await (const { seq } of connection) {
      seqs.push(seq)
      connection.close()
    }
    expect(seqs).toEqual([1])
    expect(connection.cursor).toBe(1)
    expect(connection.state).toEqual({ phase: 'closed', how: 'aborted' })
  })

  test('headers of a function are new for every request, and a 401 asks for new ones once', async () => {
    const why: boolean[] = []
    const headers = async ({ refused }: { readonly refused: boolean }) => {
      why.push(refused)
      return { authorization: `Bearer ${why.length}` }
    }
    const { rows, calls, waits } = await follow(
      [
        { status: 401, last: 'hang' },
        { headers: rejoinable, chunks: [frame(row(1))], last: 'error' },
        { status: 401 },
        { headers: rejoinable, chunks: [frame(row(2)), frame(done)] },
      ],
      { headers },
    )
    expect(rows).toEqual([row(1), row(2), done])
    expect(why).toEqual([false, true, false, true])
    expect(calls.map((call) => call.headers.authorization)).toEqual(['Bearer 1', 'Bearer 2', 'Bearer 3', 'Bearer 4'])
    expect(calls[3]?.headers['last-event-id']).toBe('1')
    expect(waits).toEqual([500])
  })

  test('a POST that was refused for its token is sent again with a new one, and no further', async () => {
    const headers = ({ refused }: { readonly refused: boolean }) => ({ authorization: refused ? 'new' : 'old' })
    const again = await follow([{ status: 401 }, { headers: rejoinable, chunks: [frame(done)] }], { headers, body: {} })
    expect(again.calls.map((call) => [call.method, call.headers.authorization])).toEqual([
      ['POST', 'old'],
      ['POST', 'new'],
    ])
    expect(again.state).toEqual({ phase: 'closed', how: 'ended' })
    const twice = await follow([{ status: 401 }, { status: 401, chunks: ['{"detail":"who?"}'] }], { headers, body: {} })
    expect(twice.state).toMatchObject({ how: 'refused', problem: { message: 'status 401: who?', source: '401' } })
    const fixed = await follow([{ status: 401 }], { headers: { authorization: 'old' } })
    expect([fixed.calls.length, fixed.state]).toMatchObject([1, { how: 'refused' }])
  })

  test('headers that fail are tried again, and headers that never come do not outlast a close', async () => {
    let tries = 0
    const headers = () => {
      tries += 1
      if (tries === 1) throw new Error('no network')
      return {}
    }
    const { state, waits } = await follow([{ headers: rejoinable, chunks: [frame(done)] }], { headers })
    expect([state, waits]).toEqual([{ phase: 'closed', how: 'ended' }, [500]])
    const { host, calls } = fakeHost([])
    const connection = connect('http://h/', { dialect: millrace, host, headers: () => new Promise(() => {}) })
    const reading = connection[Symbol.asyncIterator]().next()
    connection.close()
    expect(await reading).toMatchObject({ done: true })
    expect([connection.state, calls]).toEqual([{ phase: 'closed', how: 'aborted' }, []])
  })

  test('streams are never cached', async () => {
    expect((await follow([{ headers: rejoinable, chunks: [frame(done)] }])).calls[0]?.cache).toBe('no-store')
  })

  test('aborting ends it, while open and while waiting', async () => {
    const control = new AbortController()
    const { host } = fakeHost([{ headers: rejoinable, chunks: [frame(row(1))], last: 'hang' }])
    const connection = connect('http://h/', { dialect: millrace, host, signal: control.signal })
    for await (const { seq } of connection) if (seq === 1) control.abort()
    expect(connection.state).toEqual({ phase: 'closed', how: 'aborted' })
    expect((await follow([], { signal: control.signal })).state).toEqual({ phase: 'closed', how: 'aborted' })
  })

  test('following a session goes on after a run', async () => {
    const { rows, state } = await follow(
      [
        { headers: rejoinable, chunks: [frame(row(1)), frame(done)] },
        { headers: rejoinable, chunks: [frame(row(4))] },
        { status: 204 },
      ],
      { follow: true },
    )
    expect(rows.map(({ seq }) => seq)).toEqual([1, 3, 4])
    expect(state).toEqual({ phase: 'closed', how: 'ended' })
  })

  test.each([
    ['/sessions/s', 'http://h:1/x/y?q', 'http://h:1/sessions/s'],
    ['../sessions/s?a=1', 'http://h/pre/ag-ui/assistant', 'http://h/pre/sessions/s?a=1'],
    ['./here', 'http://h/a/b', 'http://h/a/here'],
    ['https://other/x', 'http://h/a', 'https://other/x'],
    ['sessions/s', '/relative/base', '/relative/sessions/s'],
  ])('resolves %s against %s', (reference, base, url) => expect(resolveUrl(reference, base)).toBe(url))
})
