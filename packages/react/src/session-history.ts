import { connect, type Host, type LiveLog, millrace, ndjsonReader, parseRecorded, type Recorded } from '@millrace/core'

/** What a session holds already, read in one go instead of event by event. */
export interface SessionHistory {
  /** Appends what is there, as brief as the server has it; resolves with the last seq, 0 where nothing could be read. */
  load(): Promise<number>
  /** Brings the tokens left out: of the run around a moment, or all of them. Asked again, it does nothing more. */
  fill(at?: number): Promise<void>
}

interface HistoryOptions {
  readonly host: Host
  readonly headers: Readonly<Record<string, string>>
  readonly log: LiveLog
}

/** An export that says nothing for longer is given up: the session is then followed event by event. Milliseconds. */
const longestSilence = 45_000

export function sessionHistory(url: string, { host, headers, log }: HistoryOptions): SessionHistory {
  const runs = new Map<string, Promise<void>>()
  let everything: Promise<void> | undefined
  let brief = false

  const read = async (query: string): Promise<readonly Recorded[]> => {
    const control = host.abortController()
    const { signal } = control
    const accept = { accept: 'application/x-ndjson', ...headers }
    let cancel = (): void => {}
    const heard = (): void => {
      cancel()
      cancel = host.after(longestSilence, () => control.abort())
    }
    heard()
    try {
      const answer = await host.fetch(`${url}/log${query}`, { method: 'GET', headers: accept, signal })
      return answer.status === 200 ? await rowsOf(answer.body?.getReader(), host, heard) : []
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
        log.append(rows)
        const last = rows.at(-1)?.seq ?? 0
        brief = rows.length < last
        return last
      } catch {
        // Following it will say what is wrong, and goes on trying.
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

type Bytes = { read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }> }

/** An export as rows: the first line is its header. A line that is none is left to the stream, which tells of it. */
async function rowsOf(bytes: Bytes | undefined, host: Host, heard: () => void): Promise<readonly Recorded[]> {
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
    heard()
    take(lines.feed(text.decode(chunk.value ?? new Uint8Array(), { stream: true })))
  }
  take(lines.end())
  return rows
}

function runAt(rows: readonly Recorded[], seq: number): string | undefined {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((rows[middle]?.seq ?? 0) <= seq) low = middle + 1
    else high = middle
  }
  const { run = '' } = rows[low - 1] ?? {}
  return run === '' ? undefined : run
}

function isOver(rows: readonly Recorded[], run: string): boolean {
  return rows.some((row) => row.run === run && row.event.kind === 'run.finished')
}
