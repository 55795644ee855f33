import { type Dialect, type EventLog, MillraceError, type Signal, type StreamBase } from '@millrace/core'
import { PassingMap } from '@millrace/core/store'
import { Channel } from './channel.ts'
import { type Bytes, bytesOf, joinBytes } from './encoded-row.ts'
import { Reader, type Sink, type StreamEnd } from './reader.ts'
import { type StreamFormat, sseFormat } from './stream-format.ts'

export interface StreamsOptions {
  readonly log: EventLog
  readonly dialects: readonly Dialect[]
  /** Further formats, by name. */
  readonly formats?: Readonly<Record<string, StreamFormat>>
  /** Milliseconds between heartbeats. */
  readonly heartbeat?: number
  /** How long a browser waits before it reconnects, in milliseconds. */
  readonly retry?: number
  /** A reader that takes nothing for this many heartbeats is disconnected; it may come back with its cursor. */
  readonly patience?: number
  /** Printed bytes kept per encoder: a reader that comes back soon then costs no encoding. */
  readonly retain?: number
  /** The same for all encoders together. */
  readonly retainTotal?: number
  /** How far an encoder may run ahead of its fastest reader, in bytes. */
  readonly ahead?: number
  /** Reading the log failed, or an encoder threw. Its readers are disconnected, and may come back. */
  readonly onError?: (error: unknown, session: string) => void
}

export interface StreamOptions {
  /** The name of a dialect, or of one of `formats`. */
  readonly dialect: string
  /** Only what comes after this seq; a seq beyond the end waits. Ignored with `from: 'live'`. */
  readonly after?: number
  /** Only this run; the stream ends with it. Absent: the whole session, until the reader leaves. */
  readonly run?: string
  /** `idle`: the stream ends when all that the session has was sent and no run is active. Absent: the reader leaves. */
  readonly until?: 'idle'
  /** Where the run waits for a person, go on with the run that comes after it, on the same stream. */
  readonly goesOn?: boolean
  /** `live` joins at the end, with the dialect's prelude for what came before. */
  readonly from?: 'start' | 'live'
  /** The start of `run`, where the caller has it: a new encoder then reads only what follows. */
  readonly base?: StreamBase
  /** Aborted when the reader leaves. */
  readonly signal: Signal
}

/** Prints the log for many readers at once: one encoder per format and session, whose bytes all readers share. */
export interface Streams {
  /** Resolves with the reason when the stream is over. Rejects before anything is written: `invalid`, `unavailable`. */
  open(session: string, options: StreamOptions, sink: Sink): Promise<StreamEnd>
  /** Ends every stream. A reader gets the rest when it reconnects to another process. */
  close(): void
  readonly readers: number
}

export function streams(options: StreamsOptions): Streams {
  const { log, heartbeat = 15_000, retry = 1000, patience = 8, onError } = options
  const { retain = 1024 * 1024, retainTotal = 64 * 1024 * 1024, ahead = 128 * 1024 } = options
  const formats = new Map(
    options.dialects.map((dialect): [string, StreamFormat] => [dialect.name, sseFormat(dialect, { retry })]),
  )
  for (const [name, format] of Object.entries(options.formats ?? {})) formats.set(name, format)
  const channels = new PassingMap<string, Channel>()
  const readers = new PassingMap<number, { readonly reader: Reader; readonly heartbeat: Bytes }>()
  let opened = 0
  let encoders = 0
  let timer: NodeJS.Timeout | undefined
  let closed = false

  const keyOf = (session: string, name: string): string => `${name}\n${session}`
  const channelOf = (session: string, name: string, format: StreamFormat): Channel => {
    const key = keyOf(session, name)
    const known = channels.get(key)
    if (known !== undefined) return known
    const channel = new Channel({
      log,
      session,
      format,
      ahead,
      retain: () => Math.min(retain, retainTotal / encoders),
      onError: (error) => onError?.(error, session),
      onEncoder: (change) => {
        encoders += change
      },
    })
    channels.set(key, channel)
    return channel
  }
  const beat = (): void => {
    for (const { reader, heartbeat } of [...readers.values()])
      if (!reader.beat(heartbeat, patience)) reader.end('stalled')
  }
  const add = (number: number, reader: Reader, format: StreamFormat): void => {
    if (readers.size === 0) timer = setInterval(beat, heartbeat)
    readers.set(number, { reader, heartbeat: bytesOf(format.heartbeat) })
    reader.write(openingOf(format, reader))
  }
  const drop = (number: number): void => {
    readers.delete(number)
    if (readers.size === 0) clearInterval(timer)
  }

  return {
    async open(session, { dialect, after = 0, run, until, goesOn = false, from = 'start', base, signal }, sink) {
      const format = formats.get(dialect)
      if (format === undefined) throw new MillraceError('invalid', `unknown dialect ${dialect}`, { dialect })
      const last = from === 'live' || until === 'idle' ? ((await log.get(session))?.lastSeq ?? 0) : 0
      const cursor = from === 'live' ? last : after
      if (closed) throw new MillraceError('unavailable', 'the server is shutting down')
      if (signal.aborted) {
        sink.end()
        return 'left'
      }
      return new Promise((resolve) => {
        opened += 1
        const number = opened
        const channel = channelOf(session, dialect, format)
        const left = (): void => reader.end('left')
        const onOver = (end: StreamEnd): void => {
          signal.removeEventListener('abort', left)
          channel.part(reader)
          if (channel.idle) channels.delete(keyOf(session, dialect))
          drop(number)
          resolve(end)
        }
        const reader = new Reader({
          cursor,
          run,
          goesOn,
          idleAfter: until === 'idle' ? last : undefined,
          sink,
          channel,
          onOver,
        })
        add(number, reader, format)
        signal.addEventListener('abort', left)
        try {
          if (from === 'live') channel.placeLive(reader)
          else channel.place(reader, base)
        } catch (error) {
          channel.report(error)
          reader.end('failed')
        }
      })
    },
    close() {
      closed = true
      for (const { reader } of [...readers.values()]) reader.end('closed')
    },
    get readers() {
      return readers.size
    },
  }
}

/**
 * Where ids name the run, the first id is sent at once, so that the reader knows its run whenever the connection
 * breaks. A browser keeps an id that comes without data, and dispatches no event for it.
 */
function openingOf(format: StreamFormat, { run, cursor: seq }: Reader): Bytes {
  const opening = bytesOf(format.opening)
  if (format.cursor === undefined || run === undefined) return opening
  return joinBytes([opening, bytesOf(`id: ${format.cursor({ run, seq })}\n\n`)])
}
