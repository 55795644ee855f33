import { afterEach, describe, expect, test, vi } from 'vitest'
import { timedFetch } from './timed-fetch.ts'

afterEach(() => vi.useRealTimers())

const never = new Promise<never>(() => undefined)
const bytes = (text: string) => new TextEncoder().encode(text)

/** Advances the clock of the test once the work has begun to wait. */
async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms)
}

describe('a time limit without bytes', () => {
  test('fails a request without an answer', async () => {
    vi.useFakeTimers()
    let signal: AbortSignal | null | undefined
    const fetch = timedFetch((_, init) => {
      signal = init?.signal
      return never
    }, 7)
    const asked = expect(fetch('http://x')).rejects.toThrow('the model sent nothing for 7 s')
    await pass(6999)
    expect(signal?.aborted).toBe(false)
    await pass(1)
    await asked
    expect(signal?.aborted).toBe(true)
  })

  test('begins again with each chunk, and does not count the time of a slow reader', async () => {
    vi.useFakeTimers()
    let push = (_: string): void => undefined
    const body = new ReadableStream<Uint8Array>(
      {
        start(controller) {
          push = (text) => controller.enqueue(bytes(text))
        },
      },
      { highWaterMark: 0 },
    )
    const response = await timedFetch(async () => new Response(body), 5)('http://x')
    const reader = response.body?.getReader()
    if (reader === undefined) throw new Error('no body')
    await pass(4000)
    push('a')
    expect((await reader.read()).value).toEqual(bytes('a'))
    push('b')
    await pass(60_000)
    expect((await reader.read()).value).toEqual(bytes('b'))
    const last = expect(reader.read()).rejects.toThrow('nothing for 5 s')
    await pass(5000)
    await last
  })

  test('does not count a pause of this process, in which an answer has come', async () => {
    const answers = (): Promise<Response> => new Promise((resolve) => setTimeout(resolve, 210, new Response('here')))
    const asked = timedFetch(answers, 0.2)('http://x')
    // Blocks this thread until both are due, the limit first.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
    expect(await (await asked).text()).toBe('here')
  })

  test('0 is no limit; an abort of the caller is passed on', async () => {
    vi.useFakeTimers()
    const stop = new AbortController()
    const fetch = timedFetch(
      (_, init) =>
        new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))),
      0,
    )
    const asked = fetch('http://x', { signal: stop.signal })
    await pass(3_600_000)
    stop.abort(new Error('stopped'))
    await expect(asked).rejects.toThrow('stopped')
  })
})
