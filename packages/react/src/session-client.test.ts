import { type FetchAnswer, type Host, printRecorded, type Recorded, transcript } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { createClient, RequestError } from './session-client.ts'

const row = (seq: number): Recorded => ({
  seq,
  at: seq,
  run: 'r',
  event: { kind: 'log', level: 'info', message: `m${seq}` },
})
const frame = (seq: number): string => `id: ${seq}\ndata: ${printRecorded(row(seq))}\n\n`
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A server of which the test says what it answers, and sees what was asked. */
function scene(answers: readonly (readonly [status: number, body: string])[] = []) {
  const asked: string[] = []
  const timers: (() => void)[] = []
  const open: { send(text: string): void; readonly aborted: boolean }[] = []
  const host: Host = {
    now: () => 1,
    random: () => 0.5,
    textDecoder: () => new TextDecoder(),
    abortController: () => new AbortController(),
    after(ms, callback) {
      if (ms >= 45_000) return () => {}
      timers.push(callback)
      return () => {}
    },
    async fetch(url, { method, headers, signal }): Promise<FetchAnswer> {
      asked.push(
        `${method} ${url}${headers['last-event-id'] === undefined ? '' : ` after ${headers['last-event-id']}`}`,
      )
      const [status, body] = answers[asked.length - 1] ?? [200, '']
      const json = { status, headers: { get: () => 'application/json' }, text: async () => body, body: null }
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
  /** Every timer that was set has come. */
  const later = async (): Promise<void> => {
    await turn()
    for (const callback of timers.splice(0)) callback()
    await turn()
  }
  return { asked, open, later, client: createClient({ baseUrl: 'http://h', host, schedule: (flush) => flush() }) }
}

describe('a client', () => {
  test('components on one session share one log over one connection; the last to leave closes it', async () => {
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

  test('StrictMode leaves and comes back at once: nothing is closed, nothing is asked twice', async () => {
    const { client, asked, open, later } = scene()
    const session = client.session('s')
    session.retain()()
    session.retain()
    await later()
    expect(asked).toHaveLength(1)
    expect(open[0]?.aborted).toBe(false)
  })

  test('rows that come again are known', async () => {
    const { client, open } = scene()
    const session = client.session('s')
    session.retain()
    await turn()
    open[0]?.send(frame(1) + frame(2) + frame(2) + frame(1) + frame(3))
    await turn()
    expect(session.log.rows.map(({ seq }) => seq)).toEqual([1, 2, 3])
    expect(session.log.read(transcript).settled.length).toBe(3)
  })

  test('a session that is not there yet is looked for again once a run has made it', async () => {
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

  test('what a server refuses is an error with its words, its status and its code', async () => {
    const { client } = scene([
      [409, '{"detail":"a run is active","code":"busy"}'],
      [502, '<html>'],
      [200, ''],
    ])
    const refused = await client.start('s', 'a', { messages: [] }).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(RequestError)
    expect(refused).toMatchObject({ message: 'a run is active', status: 409, code: 'busy' })
    await expect(client.cancel('s')).rejects.toMatchObject({ status: 502, message: 'status 502' })
    expect(await client.request('anything')).toBeUndefined()
    expect(client.newId()).not.toBe('')
  })
})
