import { describe, expect, test } from 'vitest'
import { abortableSleep, retryingFetch } from './retrying-fetch.ts'

/** A fetch that answers from a list, and a sleep that only takes notes. */
function setUp(answers: readonly [number, Record<string, string>?][], attempts = 4) {
  const slept: number[] = []
  let calls = 0
  const fetch = retryingFetch(
    async () => {
      const [status, headers = {}] = answers[Math.min(calls, answers.length - 1)] ?? [200]
      calls += 1
      return new Response('x', { status, headers })
    },
    { attempts, sleep: async (ms) => void slept.push(ms), now: () => Date.parse('2026-01-01T00:00:00Z') },
  )
  return { run: async () => (await fetch('http://x')).status, slept, calls: () => calls }
}

describe('retrying', () => {
  test.each<[string, readonly [number, Record<string, string>?][], number, readonly number[]]>([
    ['nothing to retry', [[200]], 200, []],
    ['seconds', [[429, { 'retry-after': '2' }], [200]], 200, [2000]],
    ['milliseconds win', [[429, { 'retry-after': '9', 'retry-after-ms': '30' }], [200]], 200, [30]],
    ['a date', [[503, { 'retry-after': 'Thu, 01 Jan 2026 00:00:03 GMT' }], [200]], 200, [3000]],
    ['a date gone by', [[503, { 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }], [200]], 200, [0]],
    ['nonsense', [[500, { 'retry-after': 'soon' }], [200]], 200, [500]],
    ['an overloaded service', [[529, { 'retry-after': '1' }], [200]], 200, [1000]],
    ['no word of when', [[500], [502], [504], [200]], 200, [500, 1000, 2000]],
    ['an end to patience', [[500]], 500, [500, 1000, 2000]],
    ['too long a wait is passed on', [[429, { 'retry-after': '3600' }]], 429, []],
    ['what retrying cannot help', [[400]], 400, []],
  ])('%s', async (_, answers, status, waits) => {
    const { run, slept, calls } = setUp(answers)
    expect(await run()).toBe(status)
    expect(slept).toEqual(waits)
    expect(calls()).toBe(waits.length + 1)
  })

  test('a broken connection is not retried: the model may have answered', async () => {
    let calls = 0
    const fetch = retryingFetch(
      async () => {
        calls += 1
        throw new TypeError('fetch failed')
      },
      { attempts: 4 },
    )
    await expect(fetch('http://x')).rejects.toThrow('fetch failed')
    expect(calls).toBe(1)
  })

  test('sleep ends at once when the run is stopped, and removes its listener', async () => {
    const stop = new AbortController()
    const slept = abortableSleep(60_000, stop.signal)
    stop.abort(new Error('stopped'))
    await expect(slept).rejects.toThrow('stopped')
    await expect(abortableSleep(60_000, stop.signal)).rejects.toThrow('stopped')
    await abortableSleep(0, undefined)
  })
})
