import { type Dialect, type EventLog, MillraceError, type Recorded, type Signal } from '@millrace/core'
import { Channel } from './channel.ts'
import { type Bytes, bytesOf, joinBytes } from './encoded-row.ts'
import { Reader, type Sink, type StreamEnd } from './reader.ts'
import { type StreamFormat, sseFormat } from './stream-format.ts'

export interface StreamsOptions {
  readonly log: EventLog
  readonly dialects: readonly Dialect[]
  /** Further ways to print, by name: the same lanes serve them. */
  readonly wires?: Readonly<Record<string, StreamFormat>>
  /** Milliseconds between heartbeats. */
  readonly heartbeat?: number
  /** Milliseconds that a browser is told to wait before it reconnects. */
  readonly retry?: number
  /** A reader that takes nothing for so many heartbeats is given up: it may come back with its cursor. */
  readonly patience?: number
  /** Printed bytes kept per encoder, so that a reader that comes back soon costs no encoding. */
  readonly retain?: number
  /** The same for all encoders together. */
  readonly retainTotal?: number
  /** How far an encoder may run ahead of its fastest reader, in bytes. */
  readonly ahead?: number
  /** Reading the log failed, or an encoder threw: its readers are ended, and will come back. */
  readonly onError?: (error: unknown, session: string) => void
}

export interface StreamOptions {
  /** A dialect's name, or that of one of `wires`. */
  readonly dialect: string
  /** Only what comes after this seq; beyond the end waits. Not read with `from: 'live'`. */
  readonly after?: number
  /** Only this run, and the stream ends with it. Without: the session, for as long as the reader stays. */
  readonly run?: string
  /** `live` joins at the end, with the dialect's prelude for what came before. */
  readonly from?: 'start' | 'live'
  /** The session's rows from its first on, where the caller has them: a new encoder then reads only what follows. */
  readonly rows?: readonly Recorded[]
  /** The reader left. */
  readonly signal: Signal
}

/** The log, printed for many readers at once (DESIGN 8): one encoder per dialect and session, bytes shared by all. */
export interface Streams {
  /** Resolves when the stream is over, and says why. Rejects, with nothing written, with `invalid` or `unavailable`. */
  open(session: string, options: StreamOptions, sink: Sink): Promise<StreamEnd>
  /** Ends every stream. What a reader has not had, it gets when it comes back to another process. */
  close(): void
  readonly readers: number
}

export function streams(options: StreamsOptions): Streams {
  const { log, heartbeat = 15_000, retry = 1000, patience = 8, onError } = options
  const { retain = 1024 * 1024, retainTotal = 64 * 1024 * 1024, ahead = 128 * 1024 } = options
  const wires = new Map(
    options.dialects.map((dialect): [string, StreamFormat] => [dialect.name, sseFormat(dialect, { retry })]),
  )
  for (const [name, wire] of Object.entries(options.wires ?? {})) wires.set(name, wire)
  const channels = new Map<string, Channel>()
  const readers = new Map<Reader, Bytes>()
  let lanes = 0
  let timer: NodeJS.Timeout | undefined
  let closed = false

  const keyOf = (session: string, name: string): string => `${name}\n${session}`
  const channelOf = (session: string, name: string, wire: StreamFormat): Channel => {
    const key = keyOf(session, name)
    const known = channels.get(key)
    if (known !== undefined) return known
    const channel = new Channel({
      log,
      session,
      wire,
      ahead,
      retain: () => Math.min(retain, retainTotal / lanes),
      onError: (error) => onError?.(error, session),
      onLane: (change) => {
        lanes += change
      },
    })
    channels.set(key, channel)
    return channel
  }
  const beat = (): void => {
    for (const [reader, bytes] of readers) if (!reader.beat(bytes, patience)) reader.end('stalled')
  }
  const add = (reader: Reader, wire: StreamFormat): void => {
    if (readers.size === 0) timer = setInterval(beat, heartbeat)
    readers.set(reader, bytesOf(wire.heartbeat))
    reader.write(openingOf(wire, reader))
  }
  const drop = (reader: Reader): void => {
    readers.delete(reader)
    if (readers.size === 0) clearInterval(timer)
  }

  return {
    async open(session, { dialect, after = 0, run, from = 'start', rows, signal }, sink) {
      const wire = wires.get(dialect)
      if (wire === undefined) throw new MillraceError('invalid', `no dialect ${dialect}`, { dialect })
      const cursor = from === 'live' ? ((await log.get(session))?.lastSeq ?? 0) : after
      if (closed) throw new MillraceError('unavailable', 'the server is shutting down')
      if (signal.aborted) {
        sink.end()
        return 'left'
      }
      return new Promise((resolve) => {
        const channel = channelOf(session, dialect, wire)
        const left = (): void => reader.end('left')
        const over = (end: StreamEnd): void => {
          signal.removeEventListener('abort', left)
          channel.part(reader)
          if (channel.lanes.size === 0) channels.delete(keyOf(session, dialect))
          drop(reader)
          resolve(end)
        }
        const reader = new Reader({ cursor, run, sink, channel, over })
        add(reader, wire)
        signal.addEventListener('abort', left)
        try {
          if (from === 'live') channel.placeLive(reader)
          else channel.place(reader, rows)
        } catch (error) {
          onError?.(error, session)
          reader.end('failed')
        }
      })
    },
    close() {
      closed = true
      for (const reader of [...readers.keys()]) reader.end('closed')
    },
    get readers() {
      return readers.size
    },
  }
}

/**
 * Where ids name the run, the first comes at once: whenever the connection breaks, the reader knows its run. An id
 * without data is no event to a browser, which keeps it all the same.
 */
function openingOf(wire: StreamFormat, { run, cursor: seq }: Reader): Bytes {
  const opening = bytesOf(wire.opening)
  if (wire.cursor === undefined || run === undefined) return opening
  return joinBytes([opening, bytesOf(`id: ${wire.cursor({ run, seq })}\n\n`)])
}
