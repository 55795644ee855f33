import {
  type Connection,
  type ConnectionState,
  connect,
  type Host,
  type LiveLog,
  liveLog,
  millrace,
  type Recorded,
  type ResumeAnswer,
  type RunInput,
} from '@millrace/core'

export interface ClientOptions {
  /** Where Millrace answers, without a trailing slash; '' for the page's own origin. */
  readonly baseUrl: string
  readonly host: Host
  readonly headers?: Readonly<Record<string, string>>
  /** When readers are told of new rows; an animation frame on a page. */
  readonly schedule: (flush: () => void) => void
}

/** One session as a page sees it: its log, and how the connection to it stands. */
export interface SessionHandle {
  readonly id: string
  readonly log: LiveLog
  readonly state: ConnectionState
  subscribeState(listener: () => void): () => void
  /** Keeps the connection open until the result is called; the last one to leave closes it. */
  retain(): () => void
}

export interface StartedRun {
  readonly run: string
  readonly seq: number
}

/** Talks to a Millrace server. Sessions are shared: every hook on one session reads one log over one connection. */
export interface Client {
  session(id: string): SessionHandle
  /** Starts a run; its events arrive on the session like everybody else's. */
  start(session: string, agent: string, input: RunInput): Promise<StartedRun>
  resume(session: string, agent: string, answers: readonly ResumeAnswer[]): Promise<StartedRun>
  cancel(session: string): Promise<void>
  /** An id no one else has made: for messages and sessions. */
  newId(): string
  request(
    path: string,
    init?: { readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'; readonly body?: unknown },
  ): Promise<unknown>
}

export class RequestError extends Error {
  readonly status: number
  readonly code: string | undefined
  constructor(status: number, message: string, code: string | undefined) {
    super(message)
    this.name = 'RequestError'
    this.status = status
    this.code = code
  }
}

export function createClient(options: ClientOptions): Client {
  const handles = new Map<string, SessionHandle>()
  const { baseUrl, host, headers = {} } = options

  const request: Client['request'] = async (path, { method = 'GET', body } = {}) => {
    const answer = await host.fetch(`${baseUrl}/${path}`, {
      method,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: host.abortController().signal,
    })
    const text = await answer.text()
    if (answer.status >= 400) throw requestError(answer.status, text)
    return text === '' ? undefined : JSON.parse(text)
  }
  const start = async (session: string, agent: string, input: RunInput): Promise<StartedRun> =>
    (await request(`sessions/${encodeURIComponent(session)}/runs`, {
      method: 'POST',
      body: { agent, input },
    })) as StartedRun

  return {
    request,
    start,
    newId: () => `${host.now().toString(36)}-${host.random().toString(36).slice(2, 12)}`,
    resume: (session, agent, answers) => start(session, agent, { messages: [], resume: answers }),
    async cancel(session) {
      await request(`sessions/${encodeURIComponent(session)}/cancel`, { method: 'POST', body: {} })
    },
    session(id) {
      const known = handles.get(id)
      if (known !== undefined) return known
      const handle = openSession(id, options, () => handles.delete(id))
      handles.set(id, handle)
      return handle
    },
  }
}

function openSession(
  id: string,
  { baseUrl, host, headers, schedule }: ClientOptions,
  forget: () => void,
): SessionHandle {
  const log = liveLog(schedule)
  const listeners = new Set<() => void>()
  let state: ConnectionState = { phase: 'connecting' }
  let connection: Connection | undefined
  let readers = 0
  let cursor = 0

  const onState = (next: ConnectionState): void => {
    state = next
    for (const listener of [...listeners]) listener()
  }
  const follow = async (live: Connection): Promise<void> => {
    let batch: Recorded[] = []
    for await (const row of live) {
      // A re-join may begin before what we have: rows are numbered, so what is known is known.
      if (row.seq <= cursor) continue
      cursor = row.seq
      batch.push(row)
      log.append(batch)
      batch = []
    }
  }
  return {
    id,
    log,
    get state() {
      return state
    },
    subscribeState(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    retain() {
      readers += 1
      if (connection === undefined) {
        const url = `${baseUrl}/sessions/${encodeURIComponent(id)}/events?dialect=millrace`
        connection = connect(url, {
          dialect: millrace,
          host,
          follow: true,
          after: cursor,
          onState,
          ...(headers === undefined ? {} : { headers }),
        })
        void follow(connection)
      }
      let left = false
      return () => {
        if (left) return
        left = true
        readers -= 1
        // StrictMode leaves and comes back at once: closing waits a turn, so that nothing is read twice.
        host.after(0, () => {
          if (readers > 0) return
          connection?.close()
          connection = undefined
          forget()
        })
      }
    },
  }
}

function requestError(status: number, text: string): RequestError {
  try {
    const { detail, code } = JSON.parse(text) as { detail?: string; code?: string }
    return new RequestError(status, detail ?? `status ${status}`, code)
  } catch {
    return new RequestError(status, `status ${status}`, undefined)
  }
}
