import { type Draft, type EventLog, memoryLog, millrace, type RunEvent } from '@millrace/core'
import { rowKindOf } from '@millrace/core/store'
import { expect, test } from 'vitest'
import { type StreamOptions, streams } from './streams.ts'

const started: RunEvent = { kind: 'run.started', agent: 'a', input: { messages: [] } }
const finished: RunEvent = { kind: 'run.finished', outcome: 'done' }
const note = (message: string): RunEvent => ({ kind: 'log', level: 'info', message })
const drafts = (run: string, ...events: readonly RunEvent[]): Draft[] => events.map((event) => ({ run, event }))

/** The same log, offering its rows as text too; `opened` counts the readers that did not want them so. */
function withText(log: EventLog): EventLog & { opened: number } {
  const offering = {
    ...log,
    opened: 0,
    follow: (...[session, options]: Parameters<EventLog['follow']>) => {
      offering.opened += 1
      return log.follow(session, options)
    },
    async *followRaw(...[session, options]: Parameters<EventLog['follow']>) {
      for await (const rows of log.follow(session, options)) {
        yield rows.map(({ seq, at, run, event }) => ({
          seq,
          at,
          run,
          kind: rowKindOf(event),
          body: JSON.stringify(event),
        }))
      }
    },
  }
  return offering
}

/** All that a reader gets until the log goes quiet; it leaves after `enough` frames, unless the stream ends before. */
async function read(
  log: EventLog,
  options: Omit<StreamOptions, 'dialect' | 'signal'>,
  enough: number,
): Promise<string> {
  const left = new AbortController()
  let text = ''
  const sink = {
    chunked: false,
    write: (bytes: Buffer) => {
      text += bytes.toString()
      if ((text.match(/^id: /gm) ?? []).length >= enough) left.abort()
      return true
    },
    onDrain: () => undefined,
    end: () => undefined,
    destroy: () => undefined,
  }
  const fanOut = streams({ log, dialects: [millrace] })
  await fanOut.open('s', { ...options, dialect: 'millrace', signal: left.signal }, sink)
  fanOut.close()
  return text
}

test('rows as stored text give the same bytes as opened ones, for every kind of reader', async () => {
  const log = memoryLog(() => 7)
  await log.create({ id: 's', user: 'u', agent: 'a' })
  for (const run of ['r1', 'r2']) {
    const lease = await log.acquire('s', run, 'me', 1000)
    await log.append('s', drafts(run, started, note(`é ${run}`)), lease)
    await log.append('s', drafts('', note('a person')))
    await log.append('s', drafts(run, note('bye'), finished), lease)
    await log.release(lease)
  }
  const offering = withText(log)
  const cases: readonly (readonly [Omit<StreamOptions, 'dialect' | 'signal'>, number])[] = [
    [{}, 10],
    [{ after: 4 }, 6],
    [{ run: 'r1' }, 99],
    [{ run: 'r2', after: 7 }, 99],
    [{ run: 'r1', after: 10 }, 99],
    [{ from: 'live' }, 1],
  ]
  for (const [options, enough] of cases) {
    const text = await read(offering, options, enough)
    expect(text).toBe(await read(log, options, enough))
  }
  expect(offering.opened).toBe(0)
  expect((await read(offering, {}, 10)).match(/^id: \d+$/gm)).toEqual(
    Array.from({ length: 10 }, (_, i) => `id: ${i + 1}`),
  )
})
