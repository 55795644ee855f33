import { type FetchAnswer, type Host, printRecorded, type Recorded, transcriptView } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { type ClientOptions, createClient, RequestError } from './session-client.ts'

const row = (seq: number): Recorded => ({
  seq,
  at: seq,
  run: 'r',
  event: { kind: 'log', level: 'info', message: `m${seq}` },
})
const frame = (seq: number): string => `id: ${seq}\ndata: ${printRecorded(row(seq))}\n\n`
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

type Answer = readonly [status: number, body: string | Promise<string>]

/** A fake server: the test gives the answers and sees the requests. */
function scene(answers: readonly Answer[] = [], options: ClientOptions = {}) {
  const asked: string[] = []
  const signals: AbortSignal[] = []
  const timers: (() => void)[] = []
  const patience: (() => void)[] = []
  const open: { send(text: string): void; readonly aborted: boolean }[] = []
  const host: Host = {
    now: () => 1,
    random: () => 0.5,
    textDecoder: () => new TextDecoder(),
    abortController: () => new AbortController(),
    after(ms, callback) {
      ;(ms >= 45_000 ? patience : timers).push(callback)
      return () => {}
    },
    async fetch(url, { method, headers, signal }): Promise<FetchAnswer> {
      asked.push(
        `${method} ${url}${headers['last-event-id'] === undefined ? '' : ` after ${headers['last-event-id']}`}`,
      )
      signals.push(signal as AbortSignal)
      const gone = new Promise<never>((_, fail) =>
        (signal as AbortSignal).addEventListener('abort', () => fail(new Error('aborted'))),
      )
      gone.catch(() => {})
      const [status, body] = answers[asked.length - 1] ?? [200, '']
      const json = {
        status,
        headers: { get: () => 'application/json' },
        text: () => Promise.race([body, gone]),
        body: exported(body, signal as AbortSignal),
      }
      return headers.accept === 'text/event-stream' && status === 200 ? streamed(signal as AbortSignal) : json
    },
  }
  const streamed = (signal: AbortSignal): FetchAnswer => {
    const chunks: string[] = []
    let wake = (): void => {}
    signal.addEventListener('abort', () => wake())
    open.push({
      get aborted() {
        return signal.aborted
      },
      send(text) {
        chunks.push(text)
        wake()
      },
    })
    const read = async () => {
      while (chunks.length === 0 && !signal.aborted) await new Promise<void>((resolve) => (wake = resolve))
      if (signal.aborted) throw new Error('aborted')
      return { done: false, value: new TextEncoder().encode(chunks.shift()) }
    }
    const headers: Record<string, string> = { 'content-type': 'text/event-stream', 'content-location': '/here' }
    return {
      status: 200,
      headers: { get: (name) => headers[name] ?? null },
      text: async () => '',
      body: { getReader: () => ({ read, cancel: async () => undefined }) },
    }
  }
  /** A body in one chunk; reading it fails once the request is aborted. */
  const exported = (body: Answer[1], signal: AbortSignal): NonNullable<FetchAnswer['body']> => {
    let given = false
    const read = async () => {
      const gone = new Promise<never>((_, fail) => signal.addEventListener('abort', () => fail(new Error('aborted'))))
      const text = await Promise.race([body, gone])
      const done = given
      given = true
      return done ? { done } : { done, value: new TextEncoder().encode(text) }
    }
    return { getReader: () => ({ read, cancel: async () => undefined }) }
  }
  const fire = (): void => {
    for (const callback of timers.splice(0)) callback()
  }
  /** Fires every timer that is set. */
  const later = async (): Promise<void> => {
    await turn()
    fire()
    await turn()
  }
  return {
    asked,
    signals,
    fire,
    open,
    later,
    patience,
    client: createClient({ baseUrl: 'http://h', host, schedule: (flush) => flush(), ...options }),
  }
}

describe('a client', () => {
  test('components on one session share one log and one connection, and the last release closes it', async () => {
    const { client, asked, open, later } = scene()
    const session = client.session('s 1')
    expect(client.session('s 1')).toBe(session)
    const leave = [session.retain(), session.retain()]
    await turn()
    expect(asked).toEqual(['GET http://h/sessions/s%201/events?dialect=millrace'])
    open[0]?.send(frame(1) + frame(2))
    await turn()
    expect(session.log.lastSeq).toBe(2)
    leave[0]?.()
    leave[0]?.()
    await later()
    expect([open[0]?.aborted, session.state.phase]).toEqual([false, 'open'])
    leave[1]?.()
    await later()
    expect(open[0]?.aborted).toBe(true)
    expect(client.session('s 1')).not.toBe(session)
  })

  test('a release followed at once by a retain, as in StrictMode, closes nothing and requests nothing twice', async () => {
    const { client, asked, open, later } = scene()
    const session = client.session('s')
    session.retain()()
    session.retain()
    await later()
    expect(asked).toHaveLength(1)
    expect(open[0]?.aborted).toBe(false)
  })

  test('repeated rows are ignored', async () => {
    const { client, open } = scene()
    const session = client.session('s')
    session.retain()
    await turn()
    open[0]?.send(frame(1) + frame(2) + frame(2) + frame(1) + frame(3))
    await turn()
    expect(session.log.rows.map(({ seq }) => seq)).toEqual([1, 2, 3])
    expect(session.log.read(transcriptView).settled.length).toBe(3)
  })

  test('a run goes on with a change in a new session', async () => {
    const { client, asked } = scene([[201, '{"session":{"id":"f"},"run":"r","seq":1,"plan":{}}']])
    const change = { field: 'message', run: 'r', text: 'Again' } as const
    expect(await client.runOn('a b', change, { title: 'Changed' })).toMatchObject({ session: { id: 'f' }, run: 'r' })
    expect(asked).toEqual(['POST http://h/sessions/a%20b/run-on'])
  })

  test('a session that does not exist yet is requested again once a run has created it', async () => {
    const { client, asked } = scene([
      [404, '{"detail":"no such session"}'],
      [201, '{"run":"r","seq":1}'],
    ])
    const session = client.session('s')
    session.retain()
    await turn()
    expect(session.state).toMatchObject({ phase: 'closed', how: 'refused' })
    expect(await client.start('s', 'a', { messages: [] })).toEqual({ run: 'r', seq: 1 })
    await turn()
    expect(asked.at(-1)).toBe('GET http://h/sessions/s/events?dialect=millrace')
    expect(session.state).toEqual({ phase: 'open' })
  })

  test('a session that is created while a request for it is being refused is requested again', async () => {
    let answer = (_: string): void => {}
    const { client, asked } = scene([
      [404, new Promise<string>((resolve) => (answer = resolve))],
      [201, '{"run":"r","seq":1}'],
    ])
    const session = client.session('s')
    session.retain()
    await client.start('s', 'a', { messages: [] })
    answer('{"detail":"no such session"}')
    await turn()
    expect(asked).toHaveLength(3)
    expect(session.state).toEqual({ phase: 'open' })
  })

  test('a release and a retain while the history is loading do not load it twice', async () => {
    let answer = (_: string): void => {}
    const { client, asked, later } = scene([[200, new Promise<string>((resolve) => (answer = resolve))]], {
      bulk: true,
    })
    const session = client.session('s')
    session.retain()()
    await later()
    session.retain()
    answer(`{"header":1}\n${printRecorded(row(1))}\n${printRecorded(row(2))}\n`)
    await turn()
    expect(session.log.rows.map(({ seq }) => seq)).toEqual([1, 2])
    expect(asked).toEqual([
      'GET http://h/sessions/s/log?brief=true',
      'GET http://h/sessions/s/events?dialect=millrace after 2',
    ])
  })

  test('a history request that stays silent is aborted, and the session is followed event by event', async () => {
    const { client, patience, asked } = scene([[200, new Promise<string>(() => {})]], { bulk: true })
    const session = client.session('s')
    session.retain()
    await turn()
    for (const giveUp of patience.splice(0)) giveUp()
    await turn()
    expect(asked.at(-1)).toBe('GET http://h/sessions/s/events?dialect=millrace')
    expect(session.state).toEqual({ phase: 'open' })
  })

  test('a closed connection does not change the state of its successor', async () => {
    const { client, fire } = scene()
    const session = client.session('s')
    const leave = session.retain()
    await turn()
    leave()
    fire()
    const phases: string[] = []
    session.subscribeState(() => phases.push(session.state.phase))
    session.retain()
    await turn()
    expect(phases).toEqual(['connecting', 'open'])
  })

  test('headers of a function are new for every request, and a 401 asks for new ones once', async () => {
    const why: boolean[] = []
    const headers = ({ refused }: { readonly refused: boolean }) => {
      why.push(refused)
      return { authorization: 'x' }
    }
    const log = `{"header":1}\n${printRecorded(row(1))}\n`
    const { client, asked } = scene(
      [
        [401, ''],
        [200, '{"ok":true}'],
        [401, '{"detail":"who?"}'],
        [401, '{"detail":"who?"}'],
        [401, ''],
        [200, log],
      ],
      { headers, bulk: true },
    )
    expect(await client.request('agents')).toEqual({ ok: true })
    await expect(client.request('agents')).rejects.toMatchObject({ status: 401, message: 'who?' })
    expect(why).toEqual([false, true, false, true])
    const session = client.session('s')
    session.retain()
    await turn()
    expect(session.log.lastSeq).toBe(1)
    expect(asked.slice(4)).toEqual([
      'GET http://h/sessions/s/log?brief=true',
      'GET http://h/sessions/s/log?brief=true',
      'GET http://h/sessions/s/events?dialect=millrace after 1',
    ])
  })

  test('an answer that does not come in time is an error, and its request is aborted', async () => {
    const { client, patience, signals } = scene([[200, new Promise<string>(() => {})]])
    const late = client.request('agents').catch((error: unknown) => error)
    await turn()
    for (const giveUp of patience.splice(0)) giveUp()
    expect(await late).toMatchObject({ status: 0, code: 'timeout', message: 'no answer within 60000 ms; try again' })
    expect(signals[0]?.aborted).toBe(true)
    const quick = scene([[200, new Promise<string>(() => {})]], { timeout: 50 })
    const later = quick.client.request('agents').catch((error: unknown) => error)
    await turn()
    quick.fire()
    expect(await later).toMatchObject({ code: 'timeout', message: 'no answer within 50 ms; try again' })
  })

  test('a refused request is an error with the message, status and code of the server', async () => {
    const { client } = scene([
      [409, '{"detail":"a run is active","code":"busy"}'],
      [502, '<html>'],
      [200, ''],
      [200, '<html>'],
    ])
    const refused = await client.start('s', 'a', { messages: [] }).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(RequestError)
    expect(refused).toMatchObject({ message: 'a run is active', status: 409, code: 'busy' })
    await expect(client.cancel('s')).rejects.toMatchObject({ status: 502, message: 'status 502' })
    expect(await client.request('anything')).toBeUndefined()
    await expect(client.cancel('s')).rejects.toMatchObject({
      status: 200,
      message: 'the answer is not JSON; check that baseUrl points to Millrace',
    })
    expect(client.newId()).not.toBe('')
  })
})
