import type { Signal } from './event-log.ts'

/** What following needs of a log: to read a page, to know the end, to be woken. */
export interface FollowSource<T> {
  /** The next rows after `after`, one bounded page; none when the reader has caught up. */
  next(after: number): readonly T[] | Promise<readonly T[]>
  /** Whether no further row can come: the session was removed or the log closed. */
  ended(): boolean
  /** Calls `wake` after every commit and at the end. The result ends the subscription. */
  subscribe(wake: () => void): () => void
}

/**
 * `EventLog.follow` for any log that can be read by cursor and wakes its followers after a commit. A wake-up is only a
 * hint: a reader always reads from its own cursor, so a lost or repeated wake-up causes neither a gap nor a duplicate.
 * `open` and `subscribe` are called in the same turn, so that no commit after `open` is missed.
 */
export function followRows<T extends { readonly seq: number }>(
  open: () => FollowSource<T>,
  after: number,
  signal: Signal,
): AsyncIterable<readonly T[]> {
  return {
    [Symbol.asyncIterator]() {
      const bell = newBell()
      const rows = pages(open, after, signal, bell)
      return {
        next: () => rows.next(),
        // A generator's own return() would wait for a `next` that is waiting for a commit.
        return: () => {
          bell.stop()
          return rows.return()
        },
      }
    },
  }
}

async function* pages<T extends { readonly seq: number }>(
  open: () => FollowSource<T>,
  after: number,
  signal: Signal,
  bell: Bell,
): AsyncGenerator<readonly T[], void> {
  const source = open()
  const leave = source.subscribe(bell.ring)
  signal.addEventListener('abort', bell.stop)
  if (signal.aborted) bell.stop()
  let cursor = after
  try {
    while (!bell.stopped()) {
      bell.listen()
      const ended = source.ended()
      const rows = await source.next(cursor)
      if (bell.stopped()) return
      const last = rows.at(-1)
      if (last !== undefined) {
        cursor = last.seq
        yield rows
      } else if (ended) return
      else await bell.rung()
    }
  } finally {
    leave()
    signal.removeEventListener('abort', bell.stop)
  }
}

interface Bell {
  ring(): void
  /** Rings now and ends the following. */
  stop(): void
  stopped(): boolean
  /** From here on a ring counts, also one that comes before `rung` is called. */
  listen(): void
  rung(): Promise<void>
}

function newBell(): Bell {
  let heard = false
  let over = false
  let wake = (): void => {}
  const ring = (): void => {
    heard = true
    wake()
  }
  return {
    ring,
    stop: () => {
      over = true
      ring()
    },
    stopped: () => over,
    listen: () => {
      heard = over
    },
    rung: () =>
      new Promise((resolve) => {
        wake = resolve
        if (heard) resolve()
      }),
  }
}
