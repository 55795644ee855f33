import {
  type EventLog,
  type RawRecorded,
  type Recorded,
  type SessionFacts,
  type SessionInfo,
  type View,
  type ViewName,
  views,
} from '@millrace/core'
import { ownTurn } from '../thread/turns.ts'
import { recordedIn } from './fold-worker.ts'
import { jsonPieces } from './json-pieces.ts'
import { defaultReadLimits, ReadGate, type ReadLimits } from './read-gate.ts'
import { SharedAnswer } from './shared-answer.ts'
import {
  defaultThreadLimits,
  type FoldedElsewhere,
  foldInThread,
  type ThreadLimits,
  type ThreadWork,
} from './view-thread.ts'

/** What is asked for: a view or the state of a session, at a seq or at its end. */
export interface ViewRead {
  readonly session: SessionInfo
  readonly at: number | undefined
  readonly user: string
  /** The client has left. */
  readonly signal: AbortSignal
}

/** Views and states as JSON text, in pieces. One user's reads cannot stop or starve another's. */
export interface ViewReads {
  view(name: ViewName, read: ViewRead): AsyncGenerator<string, void>
  state(read: ViewRead): AsyncGenerator<string, void>
  /** What a surface makes of all rows: `here` for a short session, else in a thread. */
  folded(
    made: FoldedElsewhere & { readonly here: (rows: readonly Recorded[]) => unknown },
    read: ViewRead,
  ): AsyncGenerator<string, void>
}

export type ViewLimits = ReadLimits & ThreadLimits
export const defaultViewLimits: ViewLimits = { ...defaultReadLimits, ...defaultThreadLimits }

/** A session whose rows have no more characters than this is folded at once; a longer one has a thread. */
const short = 256 * 1024
/** A page of rows that goes to the thread. */
const page = { limit: 500, text: 256 * 1024 }

export function viewReads(log: EventLog, limits: ViewLimits): ViewReads {
  const threads = new ReadGate(limits)
  // A state is read from its checkpoint on, so that many of them can be read at once.
  const states = new ReadGate({ ...limits, reads: limits.reads * 4, readsPerUser: limits.readsPerUser * 4 })
  const answers = new Map<string, SharedAnswer>()

  /** The answer that is being made for the same question, or a new one. */
  const shared = (
    what: string,
    { session, signal }: ViewRead,
    seq: number,
    make: (signal: AbortSignal) => AsyncIterable<string>,
  ): AsyncGenerator<string, void> => {
    const key = JSON.stringify([what, seq, session.createdAt, session.id])
    const known = answers.get(key)
    if (known?.isOpen === true) return known.read(signal)
    const made: SharedAnswer = new SharedAnswer(make, () => {
      if (answers.get(key) === made) answers.delete(key)
    })
    answers.set(key, made)
    return made.read(signal)
  }

  const inThread = async function* (
    work: ThreadWork | FoldedElsewhere,
    { session, user }: ViewRead,
    span: Span,
    signal: AbortSignal,
  ): AsyncGenerator<string, void> {
    const leave = await threads.enter(user, signal)
    try {
      yield* foldInThread(work, pagesOf(log, session.id, span, signal), limits, signal)
    } finally {
      leave()
    }
  }

  return {
    view: (name, read) => {
      const seq = seqOf(read)
      return shared(name, read, seq, async function* (signal) {
        const rows = await shortSession(log, read.session.id, { after: 0, seq }, signal)
        if (rows === undefined) yield* inThread({ view: name }, read, { after: 0, seq }, signal)
        else yield JSON.stringify(folded(name, rows))
      })
    },
    folded: async function* ({ here, ...work }, read) {
      const span = { after: 0, seq: seqOf(read) }
      const rows = await shortSession(log, read.session.id, span, read.signal)
      if (rows === undefined) yield* inThread(work, read, span, read.signal)
      else yield JSON.stringify(here(rows.map(recordedIn)))
    },
    state: (read) => {
      const { session, user, at } = read
      const seq = seqOf(read)
      return shared('state of', read, seq, async function* (signal) {
        const known = await log.checkpoint?.(session.id, seq)
        const span = { after: known?.seq ?? 0, seq }
        const isShort =
          log.checkpoint === undefined ||
          ((known?.text.length ?? 0) <= short && (await shortSession(log, session.id, span, signal)) !== undefined)
        if (!isShort) {
          yield* inThread({ view: 'facts', seq, checkpoint: known?.text }, read, span, signal)
          return
        }
        const leave = await states.enter(user, signal)
        try {
          for (const piece of jsonPieces(stateOf(await log.facts(session.id, at)))) {
            yield piece
            await ownTurn()
          }
        } finally {
          leave()
        }
      })
    },
  }
}

function stateOf({ seq, state }: SessionFacts): Pick<SessionFacts, 'seq' | 'state'> {
  return { seq, state }
}

function seqOf({ at, session: { lastSeq } }: ViewRead): number {
  return Math.min(at ?? lastSeq, lastSeq)
}

/** The rows after one seq, up to another. */
interface Span {
  readonly after: number
  readonly seq: number
}

/** The rows of a session; undefined when they are many. */
async function shortSession(
  log: EventLog,
  session: string,
  span: Span,
  signal: AbortSignal,
): Promise<readonly RawRecorded[] | undefined> {
  const rows: RawRecorded[] = []
  let size = 0
  for await (const some of pagesOf(log, session, span, signal)) {
    for (const row of some) {
      rows.push(row)
      size += row.body.length
    }
    if (size > short) return undefined
  }
  return rows
}

/** The rows of a session as stored text, a page at a time. */
async function* pagesOf(
  log: EventLog,
  session: string,
  { after: first, seq }: Span,
  signal: AbortSignal,
): AsyncGenerator<readonly RawRecorded[], void> {
  for (let after = first; after < seq; ) {
    // Many reads that begin at once would else read their first pages without a break.
    await ownTurn()
    signal.throwIfAborted()
    const rows =
      (await log.readRaw?.(session, { after, ...page })) ??
      (await log.read(session, { after, ...page })).map((row) => rawOf(row))
    const last = rows.at(-1)
    if (last === undefined) return
    yield last.seq <= seq ? rows : rows.filter((row) => row.seq <= seq)
    after = last.seq
  }
}

function rawOf({ seq, at, run, event }: Recorded): RawRecorded {
  return { seq, at, run, kind: 'other', body: JSON.stringify(event) }
}

function folded(name: ViewName, rows: readonly RawRecorded[]): unknown {
  const view = views[name] as View<unknown>
  let state = view.initial
  for (const row of rows) state = view.apply(state, recordedIn(row))
  return state
}
