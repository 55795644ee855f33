import {
  type Change,
  type ChangePlan,
  defined,
  type FindQuery,
  type FoundPage,
  type Host,
  headersFor,
  type RequestHeaders,
  type ResumeAnswer,
  type RunInput,
  type SessionInfo,
  type Signal,
} from '@millrace/core'
import { nextFrame, pageHost } from './page-host.ts'
import { openSession, type ServerSession, type SessionHandle } from './session-handle.ts'

export interface ClientOptions {
  /** The address of the Millrace server, without a trailing slash. Default: '', the origin of the page. */
  readonly baseUrl?: string
  /** Fetch, clock and timers. Default: those of the page. */
  readonly host?: Host
  /** Headers of every request, such as `authorization`, or a function that returns them, for tokens that end. */
  readonly headers?: RequestHeaders
  /** How many milliseconds the answer to a request may take; streams have limits of their own. Default: 60,000. */
  readonly timeout?: number
  /** When readers are notified of new rows. Default: on the next animation frame. */
  readonly schedule?: (flush: () => void) => void
  /**
   * Loads the existing events of a session in one request before following it, without the tokens of completed
   * messages: a session of 100,000 events opens in a fraction of the time. `fill` of the handle loads the tokens.
   */
  readonly bulk?: boolean
}

export interface RunHandle {
  readonly run: string
  readonly seq: number
}

/** A run that goes on with a change: its new session, and what it reuses. */
export interface ChangedRunHandle extends RunHandle {
  readonly session: SessionInfo
  readonly plan: ChangePlan
}

/** A client of a Millrace server. Sessions are shared: all hooks on one session use one log and one connection. */
export interface Client {
  session(id: string): SessionHandle
  /** Starts a run. Its events arrive through the session, like those of any other run. */
  start(session: string, agent: string, input: RunInput): Promise<RunHandle>
  resume(session: string, agent: string, answers: readonly ResumeAnswer[]): Promise<RunHandle>
  cancel(session: string): Promise<void>
  /** Changes one thing of a run and runs on from there, in a new session. */
  runOn(
    session: string,
    change: Change,
    made?: { readonly id?: string; readonly title?: string },
  ): Promise<ChangedRunHandle>
  /** Finds anything in the sessions of the user: messages, tool calls, keys of the state, errors, agents, plans. */
  search(query: Omit<FindQuery, 'user'>): Promise<FoundPage>
  /** A new unique id for a message or a session. */
  newId(): string
  request(
    path: string,
    init?: { readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'; readonly body?: unknown },
  ): Promise<unknown>
}

/** A request that failed. `status` is 0 and `code` is `timeout` where no answer came in time. */
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

/** Create one per page, on a server one per request. No connection is opened before a component has mounted. */
export function createClient(options: ClientOptions = {}): Client {
  const handles = new Map<string, ServerSession>()
  const { baseUrl = '', host = pageHost(), headers = {}, schedule = nextFrame, timeout = longestAnswer } = options

  const request: Client['request'] = async (path, { method = 'GET', body } = {}) => {
    const sent = {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    }
    const text = body === undefined ? undefined : JSON.stringify(body)
    const answer = await answerTo(host, timeout, async (signal) => {
      const ask = async (refused: boolean) => {
        const own = await headersFor(headers, refused, signal)
        const init = { method, headers: { ...sent, ...own }, ...defined({ body: text }), signal }
        const answered = await host.fetch(`${baseUrl}/${path}`, init)
        return { status: answered.status, text: await answered.text() }
      }
      const first = await ask(false)
      // Nothing was done for a request without a valid token, so it may be sent again with a new one.
      return first.status === 401 && typeof headers === 'function' ? ask(true) : first
    })
    return jsonOf(answer)
  }
  const place = (session: string): string => `sessions/${encodeURIComponent(session)}`
  const start = async (session: string, agent: string, input: RunInput): Promise<RunHandle> => {
    const started = await request(`${place(session)}/runs`, { method: 'POST', body: { agent, input } })
    // The first run creates its session, so a connection that was refused before can be opened now.
    handles.get(session)?.revive()
    return started as RunHandle
  }

  return {
    request,
    start,
    newId: () => `${host.now().toString(36)}-${host.random().toString(36).slice(2, 12)}`,
    resume: (session, agent, answers) => start(session, agent, { messages: [], resume: answers }),
    async runOn(session, change, made = {}) {
      const body = { change, ...made }
      return (await request(`${place(session)}/run-on`, { method: 'POST', body })) as ChangedRunHandle
    },
    async cancel(session) {
      await request(`${place(session)}/cancel`, { method: 'POST', body: {} })
    },
    async search({ text, ...rest }) {
      const query = Object.entries({ q: text, ...rest }).filter(([, value]) => value !== undefined)
      return (await request(`search?${queryText(query)}`)) as FoundPage
    },
    session(id) {
      const known = handles.get(id)
      if (known !== undefined) return known
      const url = `${baseUrl}/${place(id)}/events?dialect=millrace`
      const forget = (): void => {
        if (handles.get(id) === handle) handles.delete(id)
      }
      const bulk = options.bulk === true ? { bulk: `${baseUrl}/${place(id)}` } : {}
      const handle = openSession(id, { url, host, headers, schedule, ...bulk, forget })
      handles.set(id, handle)
      return handle
    },
  }
}

function queryText(fields: readonly (readonly [string, string | number | boolean])[]): string {
  return fields
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value).replace(/\p{Cs}/gu, ' '))}`)
    .join('&')
}

/** How long an answer may take by default, in ms. */
const longestAnswer = 60_000

interface Answer {
  readonly status: number
  readonly text: string
}

/** Aborts the request when its answer takes too long, so that a page never waits for ever. */
async function answerTo(host: Host, timeout: number, send: (signal: Signal) => Promise<Answer>): Promise<Answer> {
  const control = host.abortController()
  let late = false
  const cancel = host.after(timeout, () => {
    late = true
    control.abort()
  })
  try {
    return await send(control.signal)
  } catch (error) {
    if (late) throw new RequestError(0, `no answer within ${timeout} ms; try again`, 'timeout')
    throw error
  } finally {
    cancel()
  }
}

function jsonOf({ status, text }: Answer): unknown {
  if (status >= 400) throw requestError(status, text)
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    // A proxy that requires a login may answer with status 200 and an HTML page.
    throw new RequestError(status, 'the answer is not JSON; check that baseUrl points to Millrace', undefined)
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
