import type { FetchAnswer, FetchInit, Host } from '@millrace/core'

/**
 * Milliseconds that an unanswered request stays open after its run was stopped, to learn where to cancel it. A busy server
 * takes seconds for its first answer: with two of them a run went on there until its model's time was over.
 */
const grace = 30_000

/**
 * Closing the connection stops most servers, but not a Millrace, where leaving is not stopping. So its run is cancelled
 * by a request: its answer names the session's stream, and `cancel` is beside that. A request that is abandoned before it
 * was answered may still have started a run. So it stays open a moment longer than its caller, to get that answer.
 */
export function stoppable(host: Host, headers: Readonly<Record<string, string>> = {}): Stoppable {
  let stream: URL | undefined
  let stopped = false
  const cancel = (): void => {
    if (stream === undefined || !/\/sessions\/[^/]+\/events$/.test(stream.pathname)) return
    const { signal } = host.abortController()
    const body = JSON.stringify({ run: stream.searchParams.get('run') ?? undefined })
    const sent = { 'content-type': 'application/json', ...headers }
    // Not awaited: the run here is over either way, and a server that is gone has nothing to stop.
    host.fetch(new URL('cancel', stream).href, { method: 'POST', headers: sent, body, signal }).catch(() => undefined)
  }
  return {
    host: {
      ...host,
      fetch: (url, init) =>
        patient(host, url, init, (answer) => {
          const place = answer.headers.get('content-location')
          const from = answer.url || url
          // Only an address on the same server counts: the keys in the headers are for that server alone.
          if (place !== null && URL.canParse(place, from) && new URL(place, from).origin === new URL(from).origin) {
            stream = new URL(place, from)
          }
          if (stopped) cancel()
        }),
    },
    stop() {
      stopped = true
      cancel()
    },
  }
}

export interface Stoppable {
  /** For all requests of one run. */
  readonly host: Host
  /** Cancels the run on the other server. */
  stop(): void
}

/** A fetch whose caller can leave at once, while the request itself still has `grace` to be answered. */
function patient(
  host: Host,
  url: string,
  init: FetchInit,
  answered: (answer: FetchAnswer) => void,
): Promise<FetchAnswer> {
  const request = host.abortController()
  return new Promise((resolve, reject) => {
    let settled = (): void => {}
    let leave = (): void => {
      settled = host.after(grace, () => request.abort())
      reject(new Error('the caller left'))
    }
    init.signal.addEventListener('abort', () => leave())
    const settle = (): void => {
      leave = () => request.abort()
      settled()
    }
    host.fetch(url, { ...init, signal: request.signal }).then(
      (answer) => {
        settle()
        answered(answer)
        if (init.signal.aborted) request.abort()
        resolve(answer)
      },
      (error) => {
        settle()
        reject(error)
      },
    )
  })
}
