import {
  type ConnectionState,
  connect,
  type Dialect,
  type DialectName,
  defined,
  dialects,
  printFrame,
  printLine,
  webHost,
} from '@millrace/core'
import { anyDialect, watchedDialect } from '../any-dialect.ts'
import { CommandError } from '../command-error.ts'
import { ctrlC } from '../ctrl-c.ts'
import { fromAuto } from '../dialect-option.ts'
import type { Env } from '../env-files.ts'
import { EventPrinter } from '../event-printer.ts'
import { isUrl } from '../input.ts'
import { textOut } from '../output.ts'
import { requestBody } from '../request-options.ts'
import { askServer, serverAt } from '../server-access.ts'
import { tokenHeader } from '../server-address.ts'
import { coloursOf, widthOf } from '../terminal.ts'
import { progressOf } from './progress.ts'

export interface TailOptions {
  readonly after?: number
  readonly follow: boolean
  readonly wire?: true
  readonly jsonl?: true
  readonly from: DialectName | 'auto'
  readonly data?: string
  readonly header: Readonly<Record<string, string>>
  readonly server?: string
}

/** Failed attempts in a row before it gives up. */
const maxAttempts = 8

/** Resolves with the exit code. Ctrl-C is how a session is left, so it is no failure. */
export async function tailCommand(session: string, options: TailOptions, env: Env): Promise<number> {
  const { after, wire, jsonl, data, follow } = options
  if (wire === true && jsonl === true) throw new CommandError('--wire and --jsonl exclude each other', 2)
  const own = !isUrl(session)
  if (own && data !== undefined) throw new CommandError('--data needs a URL to POST to', 2)
  const url = own ? await sessionUrl(session, options, env) : session
  const out = textOut()
  let full: Promise<void> | undefined
  const write = (text: string): void => {
    full = out.write(text) ?? full
  }
  const { signal, release } = ctrlC()
  const progress = progressOf(after ?? 0)
  const dialect = dialectOf(url, fromAuto(options.from))
  const printer = new EventPrinter({
    write,
    colours: coloursOf(process.stdout),
    ...defined({ width: widthOf(process.stdout) }),
  })
  const host = webHost(globalThis)
  const connection = connect(url, {
    dialect: wire === true ? watchedDialect(dialect, (frame) => write(printFrame(frame))) : dialect,
    host,
    signal,
    headers: { ...(own ? tokenHeader(env) : {}), ...options.header },
    run: 'run-1',
    follow: own && follow,
    maxAttempts,
    onState: (state) => progress.state(state),
    ...defined({ after, body: data === undefined ? undefined : (JSON.parse(requestBody(data)) as unknown) }),
  })
  try {
    for await (const row of connection) {
      progress.row(row.seq)
      if (jsonl === true) write(printLine(row))
      else if (wire !== true) printer.push(row)
      if (full !== undefined) {
        await full
        full = undefined
      }
    }
    printer.end()
  } finally {
    progress.end()
    await out.flush()
    release()
  }
  return codeOf(connection.state, url)
}

function codeOf(state: ConnectionState, url: string): number {
  if (state.phase !== 'closed' || state.how === 'ended' || state.how === 'aborted') return 0
  const reason = state.problem?.message ?? state.how
  throw new CommandError(state.how === 'refused' ? `${url} refused: ${reason}` : `${url}: ${reason}`)
}

/** The stream of a session. An unknown session has an empty one, and a server that is down is tried again and again. */
async function sessionUrl(session: string, { follow, from, server: address }: TailOptions, env: Env): Promise<string> {
  const server = serverAt(address, env)
  const path = `/sessions/${encodeURIComponent(session)}`
  // The body is read to its end, so that the stream can reuse the connection.
  await (await askServer(server, `${path}/state?at=0`)).text()
  const dialect = from === 'auto' ? 'millrace' : from
  return `${server.url}${path}/events?dialect=${dialect}${follow ? '' : '&until=idle'}`
}

/** The dialect that is asked for, that the URL of a session names, or that the frames show. */
function dialectOf(url: string, from: DialectName | undefined): Dialect {
  if (from !== undefined) return dialects[from]
  const { pathname, searchParams } = new URL(url)
  const named = searchParams.get('dialect')
  if (/\/sessions\/[^/]+\/events$/.test(pathname) && named !== null && Object.hasOwn(dialects, named))
    return dialects[named as DialectName]
  return anyDialect()
}
