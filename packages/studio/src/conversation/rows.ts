import { type Block, blocks, type Item, type Message, type Transcript } from '@millrace/core'
import { Sequence } from '@millrace/core/persistent'
import { isAskingCall, isVisible, runsWithQuestion } from './visible-parts.ts'

/** The rows of a conversation and the run boundaries in them. Rows before a boundary are not built again. */
interface RowCache {
  readonly items: readonly Item[]
  readonly rows: readonly Block[]
  readonly ends: readonly RunBoundary[]
}

/** A position at which no run is open: nothing after it changes how the items before it are shown. */
interface RunBoundary {
  readonly items: number
  readonly rows: number
}

const start: RunBoundary = { items: 0, rows: 0 }

/**
 * Returns a function that builds the rows of one session at any moment. Two moments of one session share most of their
 * items, so only the runs that differ are split into lanes again. Without this, a session of 4,000 items took 12 ms for
 * every token and every step of the cursor. `isNoted` says of which runs the start is a row of its own.
 */
export function rowMaker(): (transcript: Transcript, isNoted?: (run: string) => boolean) => readonly Block[] {
  let cache: RowCache = { items: [], rows: [], ends: [] }
  return (transcript, isNoted = () => false) => {
    const items = transcript.settled.toArray()
    const same = commonLength(cache.items, items)
    const known = cache.ends.findLast((end) => end.items <= same) ?? start
    const rows = cache.rows.slice(0, known.rows)
    const ends = cache.ends.slice(0, known === start ? 0 : cache.ends.indexOf(known) + 1)
    let from = known.items
    for (const end of runEnds(items, from)) {
      rows.push(...rowsOf(transcript, items.slice(from, end), [], isNoted))
      ends.push({ items: end, rows: rows.length })
      from = end
    }
    // The open run is not cached, because it changes with every moment.
    const last = rowsOf(transcript, items.slice(from), transcript.open, isNoted)
    // A step back leaves the longer cache in place: the next step may be forward again.
    if (items.length >= cache.items.length || ends.length === 0) cache = { items, rows, ends }
    return last.length === 0 ? rows : [...rows, ...last]
  }
}

/** How many items at the start are the same objects. */
function commonLength(a: readonly Item[], b: readonly Item[]): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return i
  return length
}

/** The positions in the list at which no run is open. */
function runEnds(items: readonly Item[], from: number): readonly number[] {
  const open = new Set<string>()
  const ends: number[] = []
  for (let i = from; i < items.length; i++) {
    const item = items[i] as Item
    if (item.kind === 'end') open.delete(item.run)
    else if (item.run !== '') open.add(item.run)
    if (item.kind === 'end' && open.size === 0) ends.push(i + 1)
  }
  return ends
}

/** The visible rows. */
function rowsOf(
  { index }: Transcript,
  items: readonly Item[],
  open: Transcript['open'],
  isNoted: (run: string) => boolean,
): readonly Block[] {
  if (items.length === 0 && open.length === 0) return []
  const made = blocks({ settled: Sequence.from(inReadingOrder([...items, ...open])), open: [], index })
  const asked = runsWithQuestion(made.flatMap((block) => (block.kind === 'item' ? [block.item] : [])))
  return made.filter((block) => {
    if (block.kind === 'lanes') return true
    const { item } = block
    return !isAskingCall(item, asked) && (isVisible(item) || (item.kind === 'start' && isNoted(item.run)))
  })
}

/**
 * The text that a model had said comes before the error that ended it. The log settles the error first, because the text
 * was never completed. An error that the end of the run repeats is left out.
 */
function inReadingOrder(items: readonly Item[]): readonly Item[] {
  if (!items.some((item) => item.kind === 'message' && item.error !== undefined)) return items
  const ends = new Map(items.flatMap((item) => (item.kind === 'end' ? [[item.run, item.error?.message] as const] : [])))
  const ordered: Item[] = []
  let held: Message[] = []
  for (const item of items) {
    const repeated = item.kind === 'message' && item.error !== undefined && ends.get(item.run) === item.error.message
    if (item.kind === 'message' && isErrorAlone(item)) {
      if (!repeated) held.push(item)
      continue
    }
    const isEarlier = item.kind === 'message' && held.some(({ seq, run }) => run === item.run && item.seq < seq)
    if (!isEarlier) {
      ordered.push(...held)
      held = []
    }
    ordered.push(repeated ? { ...item, error: undefined } : item)
  }
  return [...ordered, ...held]
}

function isErrorAlone({ error, parts }: Message): boolean {
  return error !== undefined && parts.length === 0
}
