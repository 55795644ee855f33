import { defined, type Frame, type Host, printFrame, studio } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import type { WireEvent } from './sse-message.ts'
import { type SseSettings, type SseState, SseStream } from './sse-stream.ts'

/** A fake server that sends what the test passes to `send`, and animation frames that the test triggers with `frame`. */
function scene(settings: SseSettings<WireEvent> = {}) {
  const requests: { url: string; method: string; body: string | undefined }[] = []
  const timers: (() => void)[] = []
  const frames: (() => void)[] = []
  let push: (text: string | undefined) => void = () => {}
  const host: Host = {
    now: () => 1,
    random: () => 1,
    textDecoder: () => new TextDecoder(),
    abortController: () => new AbortController(),
    after(ms, callback) {
      if (ms < 45_000) timers.push(callback)
      return () => {}
    },
    async fetch(url, { method, body }) {
      requests.push({ url, method, body })
      const chunks: (string | undefined)[] = []
      let wake = (): void => {}
      push = (text) => {
        chunks.push(text)
        wake()
      }
      return {
        status: 200,
        headers: { get: (name) => (name === 'content-type' ? 'text/event-stream' : null) },
        text: async () => '',
        body: {
          getReader: () => ({
            cancel: async () => undefined,
            async read() {
              if (chunks.length === 0) await new Promise<void>((resolve) => (wake = resolve))
              const text = chunks.shift()
              return text === undefined ? { done: true } : { done: false, value: new TextEncoder().encode(text) }
            },
          }),
        },
      }
    },
  }
  const received: WireEvent[] = []
  const options: SseSettings<WireEvent> = {
    host,
    schedule: (flush) => frames.push(flush),
    onMessage: (event) => void received.push(event),
    ...settings,
  }
  const stream = new SseStream<WireEvent>(() => options)
  const published: SseState<WireEvent>[] = []
  const detach = stream.attach((state) => published.push(state))
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  return {
    stream,
    received,
    requests,
    published,
    detach,
    timers,
    async send(...sent: (Frame | string | undefined)[]) {
      await turn()
      for (const frame of sent) push(typeof frame === 'object' ? printFrame(frame) : frame)
      await turn()
    },
    /** One animation frame, after which the component renders and its effects run. */
    async frame({ commit = true } = {}) {
      for (const flush of frames.splice(0)) flush()
      if (commit) stream.committed(stream.state)
      await turn()
    },
  }
}

const content = (text: string): Frame => ({
  event: 'content',
  data: JSON.stringify({ type: 'content', content: text }),
})
const done: Frame = { event: 'done', data: '{"type":"done"}' }

describe('a stream of useSSE', () => {
  test('delivers messages and publishes its state once per frame', async () => {
    const { stream, received, published, requests, send, frame } = scene()
    stream.connect('/sessions/s/chat', { message: 'hi' })
    await send(...Array.from({ length: 500 }, (_, i) => content(`${i}`)))
    const before = published.length
    expect(received).toEqual([])
    await frame()
    expect(received).toHaveLength(500)
    expect(published.length - before).toBe(1)
    expect(stream.state).toMatchObject({ status: 'open', lastEvent: { type: 'content', content: '499' } })
    expect(requests).toEqual([{ url: '/sessions/s/chat', method: 'POST', body: '{"message":"hi"}' }])
  })

  test('without a dialect, messages are delivered as they arrive, not only at the end', async () => {
    const { stream, received, send, frame } = scene()
    stream.connect('/x')
    for (const text of ['a', 'b', 'c']) {
      await send(content(text))
      await frame()
      expect(received.at(-1)).toEqual({ type: 'content', content: text })
    }
  })

  test('an end in the JSON of a frame without an event name ends the stream', async () => {
    const { stream, received, send, frame } = scene()
    stream.connect('/x')
    await send(content('a'), { event: 'message', data: '{"type":"done"}' })
    await frame({ commit: false })
    expect(received.map(({ type }) => type)).toEqual(['content'])
    await frame()
    expect(stream.state.status).toBe('closed')
  })

  test('a stream that is opened after an unmount is closed at once', async () => {
    const { stream, received, requests, detach, send, frame, timers } = scene()
    detach()
    stream.connect('/x')
    for (const fire of timers.splice(0)) fire()
    await send(content('a'))
    await frame()
    expect([requests.length, received, stream.state.status]).toEqual([1, [], 'closed'])
  })

  test('the end is delivered only after everything before it has been rendered', async () => {
    const { stream, received, send, frame } = scene()
    stream.connect('/x')
    await send(content('all of it'), done)
    await frame({ commit: false })
    expect(received.map(({ type }) => type)).toEqual(['content'])
    expect(stream.state.status).toBe('open')
    stream.committed(stream.state)
    await frame()
    expect(received.map(({ type }) => type)).toEqual(['content', 'done'])
    expect(stream.state).toMatchObject({ status: 'closed', error: undefined })
  })

  test('a component that never renders does not delay the end for ever', async () => {
    const { stream, received, send, frame, timers } = scene()
    stream.connect('/x')
    await send(content('a'), done)
    await frame({ commit: false })
    for (const fire of timers.splice(0)) fire()
    expect(received.map(({ type }) => type)).toEqual(['content', 'done'])
  })

  test('connecting again closes the first stream, which delivers nothing more', async () => {
    const { stream, received, send, frame, requests } = scene()
    stream.connect('/first')
    await send(content('first'))
    stream.connect('/second')
    await send(content('second'))
    await frame()
    expect(received).toEqual([{ type: 'content', content: 'second' }])
    expect(requests.map(({ url, method }) => [method, url])).toEqual([
      ['GET', '/first'],
      ['GET', '/second'],
    ])
  })

  test('an unmount closes the stream, a remount by StrictMode does not; a closed stream delivers nothing', async () => {
    const { stream, received, send, frame, detach, timers } = scene()
    stream.connect('/x')
    await send(content('a'))
    detach()
    const again = stream.attach(() => {})
    for (const fire of timers.splice(0)) fire()
    expect(stream.state.status).toBe('connecting')
    again()
    for (const fire of timers.splice(0)) fire()
    expect(stream.state.status).toBe('closed')
    await frame()
    expect(received).toEqual([])
  })

  test('unreadable frames go to onUnread, and a callback that throws does not stop the stream', async () => {
    const unread: string[] = []
    const { stream, send, frame, timers } = scene({
      canonical: true,
      onUnread: ({ data }, reason) => {
        unread.push(`${data}: ${reason}`)
        throw new Error('theirs')
      },
    })
    stream.connect('/run_sse', {})
    await send({ data: 'nonsense' }, { data: '{"id":"e"}' })
    await frame()
    expect(unread).toHaveLength(2)
    expect(unread[1]).toContain('missing')
    const thrown = timers.splice(0).flatMap((fire) => {
      try {
        fire()
        return []
      } catch (error) {
        return [error instanceof Error ? error.message : error]
      }
    })
    expect(thrown).toEqual(['theirs', 'theirs'])
  })

  test.each([
    ['a run that failed', [{ data: '{"error":"no quota"}' }], 'failed', /no quota/],
    ['a stream that broke off', ['data: {"id":'], 'cut', /broke off/],
  ] as const)('%s ends with an error of its kind', async (_, frames, how, message) => {
    const { stream, send, frame } = scene({ canonical: true })
    stream.connect('/run_sse', {})
    await send(...frames, undefined)
    await frame()
    await frame()
    expect(stream.state.status).toBe('closed')
    expect(stream.state.error?.how).toBe(how)
    expect(stream.state.error?.message).toMatch(message)
  })
})

/** The example stream of Studio SSE v2 (docs/requirements.md, R0), and longer ones of its kind. */
describe('snapshots and state keys of a Studio stream', () => {
  const trace = (data: object): Frame => ({ event: 'trace', data: JSON.stringify(data) })
  const step = (node: string, at: number, input: object = { query: 'test' }): Frame[] => {
    const output = { ...input, [`result_${node}`]: at }
    return [
      trace({ type: 'node_start', node, step: at, state_snapshot: { input, output: {} } }),
      trace({ type: 'node_end', node, step: at, duration_ms: 1500, state_snapshot: { input, output } }),
    ]
  }

  test('the example stream gives snapshots and the keys that were passed on', async () => {
    const { stream, received, send, frame } = scene({ dialect: studio })
    stream.connect('/api/projects/p/stream?input=test')
    await send(
      { event: 'session', data: 'abc123' },
      ...step('researcher', 1),
      ...step('writer', 2, { query: 'test', result_researcher: 1 }),
    )
    await send({ event: 'chunk', data: '{"looks":"like JSON"}' })
    await frame()
    expect(stream.state.snapshots).toHaveLength(2)
    expect(stream.state.snapshots[0]).toMatchObject({
      nodeId: 'researcher',
      duration: 1500,
      status: 'success',
      inputState: { query: 'test' },
      outputState: { query: 'test', result_researcher: 1 },
    })
    expect(stream.state.currentSnapshotIndex).toBe(1)
    expect(stream.state.stateKeys.get('researcher->writer')).toEqual(['result_researcher'])
    expect(received[0]).toEqual({ type: 'session', data: 'abc123' })
    expect(received[1]).toMatchObject({ type: 'node_start', node: 'researcher' })
    expect(received.at(-1)).toEqual({ type: 'chunk', data: '{"looks":"like JSON"}' })
  })

  test.each([
    ['by default no snapshot is dropped', undefined, 130],
    ['with maxSnapshots 100, the newest 100 are kept', 100, 100],
  ])('%s, and the index is always valid', async (_, maxSnapshots, kept) => {
    const { stream, send, frame } = scene(defined({ dialect: studio, maxSnapshots }))
    stream.connect('/x')
    await send(...Array.from({ length: 60 }, (__, i) => step(`n${i}`, i + 1)).flat())
    await frame()
    expect(stream.state.currentSnapshotIndex).toBe(59)
    stream.setCurrentSnapshotIndex(45)
    const chosen = stream.state.snapshots[45]
    await send(...Array.from({ length: 70 }, (__, i) => step(`n${60 + i}`, 61 + i)).flat())
    await frame()
    const { snapshots, currentSnapshotIndex } = stream.state
    expect(snapshots).toHaveLength(kept)
    expect(snapshots[currentSnapshotIndex]).toBe(chosen)
    stream.setCurrentSnapshotIndex((index) => index + 1)
    expect(stream.state.currentSnapshotIndex).toBe(currentSnapshotIndex + 1)
    stream.setCurrentSnapshotIndex(1e9)
    expect(stream.state.currentSnapshotIndex).toBe(kept - 1)
    stream.setCurrentSnapshotIndex(-5)
    expect(stream.state.currentSnapshotIndex).toBe(0)
    stream.setCurrentSnapshotIndex(Number.NaN)
    expect(stream.state.currentSnapshotIndex).toBe(0)
  })

  test('if the chosen snapshot is dropped, the oldest remaining one is selected', async () => {
    const { stream, send, frame } = scene({ dialect: studio, maxSnapshots: 3 })
    stream.connect('/x')
    expect(stream.state.currentSnapshotIndex).toBe(-1)
    await send(...step('a', 1), ...step('b', 2))
    await frame()
    stream.setCurrentSnapshotIndex(0)
    await send(...['c', 'd', 'e', 'f'].flatMap((node, i) => step(node, i + 3)))
    await frame()
    expect(stream.state.snapshots.map(({ nodeId }) => nodeId)).toEqual(['d', 'e', 'f'])
    expect(stream.state.currentSnapshotIndex).toBe(0)
  })
})
