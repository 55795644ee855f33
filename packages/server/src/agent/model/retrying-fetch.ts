/** The statuses after which trying again may help. 529 is Anthropic's for a service that is overloaded. */
const retryable: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504, 529])
const firstDelay = 500
/** Milliseconds. A server that asks for a longer delay is not tried again: its answer is returned as it is. */
const longestDelay = 30_000

export interface RetryOptions {
  readonly attempts: number
  /** Waits, or rejects when the signal aborts. */
  readonly sleep?: (ms: number, signal: AbortSignal | undefined) => Promise<void>
  readonly now?: () => number
}

/**
 * `fetch` that tries again on 429 and 5xx and honours `Retry-After` (seconds or a date) and `retry-after-ms`. All SDKs
 * use it: Google's ignores the header, and each has its own number of attempts. Only an answer is retried, never a
 * request without one: it may have reached the model, and a model call that ran is paid for.
 */
export function retryingFetch(fetch: typeof globalThis.fetch, options: RetryOptions): typeof globalThis.fetch {
  const { attempts, sleep = abortableSleep, now = Date.now } = options
  return async (input, init) => {
    for (let attempt = 1; ; attempt++) {
      const response = await fetch(input, init)
      if (attempt >= attempts || !retryable.has(response.status)) return response
      const delay = delayOf(response.headers, attempt, now)
      if (delay > longestDelay) return response
      await response.body?.cancel()
      await sleep(delay, init?.signal ?? undefined)
    }
  }
}

function delayOf(headers: Headers, attempt: number, now: () => number): number {
  const milliseconds = Number(headers.get('retry-after-ms') ?? Number.NaN)
  if (milliseconds >= 0) return milliseconds
  const after = headers.get('retry-after')
  if (after !== null) {
    const seconds = Number(after)
    if (seconds >= 0) return seconds * 1000
    const date = Date.parse(after)
    if (!Number.isNaN(date)) return Math.max(0, date - now())
  }
  return firstDelay * 2 ** (attempt - 1)
}

/** Resolves after `ms`; rejects with the signal's reason as soon as it aborts. */
export function abortableSleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}
