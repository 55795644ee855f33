import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type RequestOptions,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { pipeline } from 'node:stream'
import { type DialectName, defined, parseJson } from '@millrace/core'
import { Tape, type Taped } from './tape.ts'
import { unpacked } from './unpacked.ts'

export interface ProxyOptions {
  readonly dialect?: DialectName
  /** A stream has ended; what was recorded of it follows when all of it is read. */
  onTaped(taped: Promise<Taped>): void
  /** The server did not answer a request; the reason is a sentence, which the client is given too. */
  onUnanswered(reason: string): void
}

/** Headers that belong to one connection and are not passed on. */
const ofConnection = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'te',
  'trailer',
])

/** Bytes of a request's body that are kept for the recording. AG-UI sends the whole conversation. */
const keptBody = 16 * 1024 * 1024

/** Bytes of an answer in one piece that are kept for the recording. */
const keptAnswer = 64 * 1024 * 1024

/** Passes requests on to `target` and bodies back as they come. Event streams are recorded on the way. */
export function proxyHandler(target: string, { dialect, onTaped, onUnanswered }: ProxyOptions): RequestListener {
  const base = new URL(target)
  const secure = base.protocol === 'https:'
  const agent = secure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true })
  const send = secure ? httpsRequest : httpRequest
  const prefix = base.pathname.replace(/\/+$/, '')
  return (request, response) => {
    const { method = 'GET', url = '/' } = request
    const sent: Buffer[] = []
    let size = 0
    let left = false
    const options: RequestOptions = {
      agent,
      hostname: base.hostname.replace(/^\[|\]$/g, ''),
      port: base.port,
      method,
      path: prefix + url,
      headers: headersOf(request, base.host),
    }
    const upstream = send(options, (answer) => {
      const headers = passedOn(answer.rawHeaders)
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, headers)
      response.flushHeaders()
      const status = answer.statusCode ?? 0
      const about = { method, path: url, status, now: Date.now }
      const tapeOf = (as = dialect): Tape =>
        new Tape({ ...about, body: Buffer.concat(sent).toString('utf8'), ...defined({ dialect: as }) })
      if (!isEventStream(answer)) {
        if (isWholeRun(method, url, answer) && (dialect ?? 'adk') === 'adk')
          readWholeRun(answer, tapeOf('adk'), (taped) => onTaped(Promise.resolve(taped)))
        // A body that breaks off must break off for the client, too.
        pipeline(answer, response, () => {})
        return
      }
      const tape = tapeOf()
      const reading = unpacked(answer.headers['content-encoding'], (chunk) => tape.push(chunk))
      let ended = false
      const end = (how: 'closed' | 'cut'): void => {
        if (ended) return
        ended = true
        const early = how === 'cut' && left
        onTaped(new Promise((resolve) => reading.end(() => resolve(tape.end(how, early)))))
      }
      answer.on('data', (chunk: Buffer) => {
        // The client has the bytes before they are looked at.
        if (!response.write(chunk)) {
          answer.pause()
          response.once('drain', () => answer.resume())
        }
        reading.push(chunk)
      })
      answer.on('end', () => {
        response.end()
        end('closed')
      })
      answer.on('error', () => {
        response.destroy()
        end('cut')
      })
      answer.on('close', () => end('cut'))
    })
    upstream.on('error', (error: NodeJS.ErrnoException) => {
      if (response.headersSent) return void response.destroy()
      // A client that leaves before the answer begins is no failure of the server.
      if (response.destroyed) return
      const detail = `${target} cannot be reached (${error.code ?? error.message})`
      onUnanswered(detail)
      response.writeHead(502, { 'content-type': 'application/json' }).end(JSON.stringify({ detail }))
    })
    response.on('close', () => {
      if (response.writableFinished) return
      left = upstream.destroyed === false
      upstream.destroy()
    })
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= keptBody) sent.push(chunk)
    })
    request.pipe(upstream)
  }
}

/** Leaves out `accept-encoding`, because uncompressed bytes are cheaper to record. */
function headersOf({ headers }: IncomingMessage, host: string): NonNullable<RequestOptions['headers']> {
  const sent = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || ofConnection.has(name) || name === 'accept-encoding' ? [] : [[name, value] as const],
  )
  return { ...Object.fromEntries(sent), host }
}

/** The raw headers, in their order and spelling. */
function passedOn(raw: readonly string[]): string[] {
  const kept: string[] = []
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const [name = '', value = ''] = [raw[i], raw[i + 1]]
    if (!ofConnection.has(name.toLowerCase())) kept.push(name, value)
  }
  return kept
}

function isEventStream({ headers }: IncomingMessage): boolean {
  return headers['content-type']?.toLowerCase().startsWith('text/event-stream') === true
}

/** ADK's `/run` answers with all events of a run in one JSON array. */
function isWholeRun(method: string, url: string, { headers, statusCode }: IncomingMessage): boolean {
  const isJson = headers['content-type']?.toLowerCase().startsWith('application/json') === true
  return method === 'POST' && statusCode === 200 && isJson && /\/run(\?|$)/.test(url)
}

/** Reads a copy of the bytes that are passed on. Only a list of events is recorded as a run. */
function readWholeRun(answer: IncomingMessage, tape: Tape, onTaped: (taped: Taped) => void): void {
  const chunks: Uint8Array[] = []
  let bytes = 0
  const reading = unpacked(answer.headers['content-encoding'], (chunk) => {
    bytes += chunk.length
    if (bytes <= keptAnswer) chunks.push(chunk)
  })
  answer.on('data', (chunk: Buffer) => reading.push(chunk))
  answer.on('end', () =>
    reading.end(() => {
      const parsed = bytes > keptAnswer ? undefined : parseJson(Buffer.concat(chunks).toString('utf8'))
      if (parsed === undefined || !('value' in parsed) || !Array.isArray(parsed.value)) return
      tape.pushWhole(parsed.value, bytes)
      onTaped(tape.end('closed'))
    }),
  )
}
