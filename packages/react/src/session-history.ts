import {
  connect,
  type Host,
  headersFor,
  type LiveLog,
  millrace,
  ndjsonReader,
  parseRecorded,
  type Recorded,
  type RequestHeaders,
} from '@millrace/core'
import { firstIndexWhere } from '@millrace/core/persistent'

/** The existing events of a session, loaded in one request instead of event by event. */
interface SessionHistory {
  /** Appends the existing events, without the tokens of completed messages. Resolves with the last seq; 0 on failure. */
  load(): Promise<number>
  /** Loads the omitted tokens: those of the run at a seq, or all of them. A repeated call does nothing. */
  fill(at?: number): Promise<void>
}

interface HistoryOptions {
  readonly host: Host
  readonly headers: RequestHeaders
  readonly log: LiveLog
}

/** An export that is silent for this many milliseconds is aborted; the session is then followed event by event. */
const longestSilence = 45_000

export function sessionHistory(url: string, { host, headers, log }: HistoryOptions): SessionHistory {
  const runs = new Map<string, Promise<void>>()
  let everything: Promise<void> | undefined
  let brief = false

  const read = async (query: string): Promise<readonly Recorded[]> => {
    const control = host.abortController()
    const { signal } = control
    let cancel = (): void => {}
    const restartTimeout = (): void => {
      cancel()
      cancel = host.after(longestSilence, () => control.abort())
    }
    restartTimeout()
    try {
      const ask = async (refused: boolean) => {
        const sent = { accept: 'application/x-ndjson', ...(await headersFor(headers, refused, signal)) }
        return host.fetch(`${url}/log${query}`, { method: 'GET', headers: sent, signal })
      }
      const first = await ask(false)
      const answer = first.status === 401 && typeof headers === 'function' ? await ask(true) : first
      return answer.status === 200 ? await rowsOf(answer.body?.getReader(), host, restartTimeout) : []
    } finally {
      cancel()
    }
  }
  const fillRun = async (run: string): Promise<void> => {
    const rows: Recorded[] = []
    const stream = `${url}/events?dialect=millrace&run=${encodeURIComponent(run)}`
    for await (const row of connect(stream, { dialect: millrace, host, headers })) rows.push(row)
    log.insert(rows)
  }
  return {
    async load() {
      try {
        const rows = await read('?brief=true')
        await inSlices(log.appendSteps(rows), host)
        const last = rows.at(-1)?.seq ?? 0
        brief = rows.length < last
        return last
      } catch {
        // The stream that follows reports the problem and keeps retrying.
        return 0
      }
    },
    async fill(at) {
      if (!brief || everything !== undefined) return everything
      if (at === undefined) {
        everything = read('').then(
          (rows) => log.insert(rows.filter(({ seq }) => seq < log.lastSeq)),
          () => {
            everything = undefined
          },
        )
        return everything
      }
      const run = runAt(log.rows, at)
      if (run === undefined || !isOver(log.rows, run)) return
      const known = runs.get(run)
      if (known !== undefined) return known
      const filled = fillRun(run).catch(() => void runs.delete(run))
      runs.set(run, filled)
      return filled
    },
  }
}

/** Milliseconds of work between two chances for the page to draw and to answer a person. */
const slice = 16

async function inSlices(steps: Iterable<undefined>, host: Host): Promise<void> {
  let until = host.now() + slice
  for (const _ of steps) {
    if (host.now() < until) continue
    await new Promise<void>((resolve) => host.after(0, resolve))
    until = host.now() + slice
  }
}

type Bytes = { read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }> }

/** The rows of an export, whose first line is a header. Unreadable lines are skipped: the stream reports them. */
async function rowsOf(bytes: Bytes | undefined, host: Host, onChunk: () => void): Promise<readonly Recorded[]> {
  const text = host.textDecoder()
  const lines = ndjsonReader()
  const rows: Recorded[] = []
  const take = (found: ReturnType<typeof lines.feed>): void => {
    for (const line of found) {
      const parsed = line.number === 1 ? undefined : parseRecorded(line.text)
      if (parsed !== undefined && 'recorded' in parsed) rows.push(parsed.recorded)
    }
  }
  for (let chunk = await bytes?.read(); chunk !== undefined && !chunk.done; chunk = await bytes?.read()) {
    onChunk()
    take(lines.feed(text.decode(chunk.value ?? new Uint8Array(), { stream: true })))
  }
  take(lines.end())
  return rows
}

function runAt(rows: readonly Recorded[], seq: number): string | undefined {
  const after = firstIndexWhere(rows.length, (index) => (rows[index]?.seq ?? 0) > seq)
  const { run = '' } = rows[after - 1] ?? {}
  return run === '' ? undefined : run
}

function isOver(rows: readonly Recorded[], run: string): boolean {
  return rows.some((row) => row.run === run && row.event.kind === 'run.finished')
}
