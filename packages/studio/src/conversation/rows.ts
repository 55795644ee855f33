import { type Block, blocks, type Item, type Part, type Transcript } from '@millrace/core'
import { Sequence } from '@millrace/core/persistent'
import { isShown } from './shown.ts'

/** The rows of a conversation, and where in them its runs end: what lies before is not made again. */
interface Made {
  readonly items: readonly Item[]
  readonly rows: readonly Block[]
  readonly ends: readonly End[]
}

/** No run is open here: nothing after it changes how the items before it are shown. */
interface End {
  readonly items: number
  readonly rows: number
}

const start: End = { items: 0, rows: 0 }

/**
 * Makes the rows of one session, at whatever moment it is asked for. Two moments of one session share most of their
 * items, so only the runs that differ are split into lanes again: a session of 4,000 items took 12 ms for every token
 * and every step of the cursor without it.
 */
export function rowMaker(): (said: Transcript) => readonly Block[] {
  let made: Made = { items: [], rows: [], ends: [] }
  return (said) => {
    const items = said.settled.toArray()
    const same = shared(made.items, items)
    const known = made.ends.findLast((end) => end.items <= same) ?? start
    const rows = made.rows.slice(0, known.rows)
    const ends = made.ends.slice(0, known === start ? 0 : made.ends.indexOf(known) + 1)
    let from = known.items
    for (const end of runEnds(items, from)) {
      rows.push(...rowsOf(said, items.slice(from, end), []))
      ends.push({ items: end, rows: rows.length })
      from = end
    }
    // What is open is not kept: it is another at the next moment.
    const last = rowsOf(said, items.slice(from), said.open)
    // A step back keeps what is known beyond it: the next one may be forward again.
    if (items.length >= made.items.length || ends.length === 0) made = { items, rows, ends }
    return last.length === 0 ? rows : [...rows, ...last]
  }
}

/** How many items from the start on are the very same. */
function shared(a: readonly Item[], b: readonly Item[]): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return i
  return length
}

/** Behind which items no run is open. */
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

/** What has something to show. A question stands for ADK's own call that asked it. */
function rowsOf({ index }: Transcript, items: readonly Item[], open: Transcript['open']): readonly Block[] {
  if (items.length === 0 && open.length === 0) return []
  const made = blocks({ settled: Sequence.from(items), open, index })
  const asked = new Set<string>()
  for (const block of made) if (block.kind === 'item' && block.item.kind === 'interrupt') asked.add(block.item.run)
  return made.filter((block) => {
    if (block.kind === 'lanes') return true
    const { item } = block
    if (item.kind === 'message' && asked.has(item.run) && item.parts.length > 0 && item.parts.every(isRequest))
      return false
    return isShown(item)
  })
}

const isRequest = (part: Part): boolean => part.kind === 'tool' && part.name.startsWith('adk_request_')
