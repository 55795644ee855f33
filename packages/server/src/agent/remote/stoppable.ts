import type { FetchAnswer, FetchInit, Host } from '@millrace/core'

/** How long an unanswered request is kept open after everybody left, to learn where its run can be stopped. */
const grace = 2_000

/**
 * Closing the connection stops most servers. A Millrace goes on (leaving is not stopping), so it is told: its answer
 * names the session's stream, and beside that is the way to cancel. A request that is left before it was answered may
 * have started a run all the same; so it stays open a moment longer than its caller, until the answer says where.
 */
export function stoppable(host: Host, headers: Readonly<Record<string, string>> = {}): Stoppable {
  let stream: URL | undefined
  let stopped = false
  const cancel = (): void => {
    if (stream === undefined || !/\/sessions\/[^/]+\/events$/.test(stream.pathname)) return
    const { signal } = host.abortController()
    const body = JSON.stringify({ run: stream.searchParams.get('run') ?? undefined })
    const sent = { 'content-type': 'application/json', ...headers }
    // Nobody waits for this: the run here is over either way, and a server that is gone has nothing to stop.
    host.fetch(new URL('cancel', stream).href, { method: 'POST', headers: sent, body, signal }).catch(() => undefined)
  }
  return {
    host: {
      ...host,
      fetch: (url, init) =>
        patient(host, url, init, (answer) => {
          const place = answer.headers.get('content-location')
          const from = answer.url || url
          // A server speaks for itself alone: the keys are for it, and not for whom it names.
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
  /** Nobody wants the rest of the run. */
  stop(): void
}

/** A fetch whose caller can leave at once, while the request itself has a moment to be answered. */
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
      reject(new Error('left'))
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
