import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { type DialectName, dialectNames, dialects, isObject, printFrame, type Recorded, withSeq } from '@millrace/core'
import { jsonAnswer } from './json-routes.ts'
import type { RecordedRun } from './runs.ts'

/** A run that was given to a client. */
export interface ServedRun {
  readonly method: string
  readonly path: string
  /** Its number in the recording, from 1. */
  readonly run: number
  readonly dialect: DialectName
}

export interface ReplayServer {
  readonly runs: readonly RecordedRun[]
  readonly agent: string
  /** The dialect of routes that no client of a known dialect calls. */
  readonly own: DialectName
  readonly forced: DialectName | undefined
  readonly speed: number
  readonly signal: AbortSignal
  readonly onServed: (served: ServedRun) => void
}

/** Bytes of a request's body. */
const longestBody = 16 * 1024 * 1024

/** Pages of any origin may call it: it is a mock for front-end tests, and serves nothing but the recording. */
const cors = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*',
  'access-control-allow-methods': '*',
  'access-control-expose-headers': '*',
}

/** Answers each request for a run with the next one of the recording. */
export function replayHandler(replay: ReplayServer): RequestListener {
  let next = 0
  return (request, response) => {
    const { method = 'GET', url = '/' } = request
    const { pathname, searchParams } = new URL(url, 'http://replay')
    for (const [name, value] of Object.entries(cors)) response.setHeader(name, value)
    if (method === 'OPTIONS') return void response.writeHead(204).end()
    const asked = dialectOf(method, pathname, searchParams, replay.own)
    const dialect = asked === undefined ? undefined : (replay.forced ?? asked)
    void bodyOf(request).then(async (body) => {
      const known = dialect === undefined ? jsonAnswer(method, pathname, replay, body) : undefined
      if (dialect === undefined)
        return answer(
          response,
          known === undefined ? 404 : 200,
          known ?? { detail: `replay has no ${method} ${pathname}` },
        )
      const number = next++ % replay.runs.length
      const run = replay.runs[number]
      if (run === undefined) return
      replay.onServed({ method, path: pathname, run: number + 1, dialect })
      const print = encoded(run, dialect, body)
      if (pathname.endsWith('/run')) {
        const events = run.rows.flatMap((row) => print(row)).filter(({ data }) => data.startsWith('{'))
        return answer(
          response,
          200,
          events.map(({ data }) => JSON.parse(data) as unknown),
        )
      }
      await stream(response, run, print, replay)
    })
  }
}

/** The dialect of the clients that call this route; undefined for a route that answers JSON, or none. */
function dialectOf(method: string, path: string, query: URLSearchParams, own: DialectName): DialectName | undefined {
  if (/\/sessions\/[^/]+\/events$/.test(path))
    return dialectNames.find((name) => name === query.get('dialect')) ?? 'millrace'
  if (/\/(run_sse|run)$/.test(path)) return 'adk'
  if (/\/api\/projects\/[^/]+\/stream$/.test(path)) return 'studio'
  if (method !== 'POST') return undefined
  if (/\/sessions\/[^/]+\/(chat|execute)$/.test(path)) return 'plan'
  if (path === '/' || /\/ag-ui(\/[^/]+)?$/.test(path)) return 'ag-ui'
  return /\/sessions(\/[^/]+)?$/.test(path) ? undefined : own
}

/** Frames of each row. The client's own ids for thread and run take the place of the recorded ones. */
function encoded({ before, rows }: RecordedRun, dialect: DialectName, body: unknown) {
  const { threadId, runId, sessionId } = isObject(body) ? body : {}
  const session = [threadId, sessionId].find((id) => typeof id === 'string') ?? 'replay'
  const encoder = dialects[dialect].encoder({ session: String(session), echo: false })
  for (const row of before) encoder.push(row)
  const [first] = rows
  const renamed = (row: Recorded): Recorded =>
    typeof runId === 'string' && row.run === first?.run ? { ...row, run: runId } : row
  return (row: Recorded) => withSeq(encoder.push(renamed(row)), row.seq)
}

async function stream(
  response: ServerResponse,
  { rows }: RecordedRun,
  print: ReturnType<typeof encoded>,
  { speed, signal }: ReplayServer,
): Promise<void> {
  const left = new AbortController()
  response.once('close', () => left.abort())
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  response.flushHeaders()
  const recordedStart = rows[0]?.at ?? 0
  const start = performance.now()
  try {
    for (const row of rows) {
      const wait = speed === 0 ? 0 : (row.at - recordedStart) / speed - (performance.now() - start)
      if (wait > 1) await pause(wait, undefined, { signal: AbortSignal.any([signal, left.signal]) })
      if (left.signal.aborted) return
      for (const frame of print(row)) response.write(printFrame(frame))
    }
    response.end()
  } catch {
    response.destroy()
  }
}

function answer(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of request as AsyncIterable<Uint8Array>) {
      size += chunk.length
      if (size <= longestBody) chunks.push(chunk)
    }
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown
  } catch {
    return undefined
  }
}
