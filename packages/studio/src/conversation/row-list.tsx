import type { Block } from '@millrace/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, type ReactNode, type RefObject, useEffect, useMemo, useRef } from 'react'
import { inEachFrame } from './bring-into-view.ts'
import { ItemRow } from './item-row.tsx'
import { LanesRow } from './lanes-row.tsx'
import { rowSize, tailOf } from './row-size.ts'
import type { RowGoal } from './use-find-marks.ts'

interface RowListProps {
  readonly blocks: readonly Block[]
  readonly following: boolean
  readonly scroller: RefObject<HTMLDivElement | null>
  /** The row that a search shows, or the one with a lit card. */
  readonly goal: RowGoal | undefined
}

/** Up to this many rows are all in the page, so that the browser's own search finds every word. */
const few = 120

/** Frames in which the list tries to reach a row, and in which the row must stay drawn. */
const mostTries = 60
const stays = 10

/** Screens at the end of a long list that are drawn while it is followed: what is seen, and a page up from there. */
const screens = 2
/** Rows that are drawn beyond what is seen. While the list is followed, too: so their heights are known when it is left. */
const overscan = 6

/**
 * The rows of a short list are all in the page. Of a long one, it is the end while the list is followed, below a spacer:
 * nothing is measured, so that a token or a step of the cursor costs only as much as the rows on the screen. Once the
 * reader scrolls, it is the rows on the screen, at their positions. A row stays the same element in all of this: a press
 * would be lost if it were drawn anew, and so would the focus.
 */
export function RowList({ blocks, following, scroller, goal }: RowListProps) {
  const inFlow = following || blocks.length <= few
  const { from, above } = useMemo(
    () =>
      blocks.length <= few || !following ? { from: 0, above: 0 } : tailOf(blocks, innerHeight * screens, overscan),
    [blocks, following],
  )
  const start = useMemo(() => (inFlow ? undefined : startOf(scroller.current)), [inFlow, scroller])
  const virtual = useVirtualizer({
    count: blocks.length,
    enabled: !inFlow,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => sizeAtStart(blocks[index] as Block, start),
    getItemKey: (index) => blocks[index]?.key ?? index,
    initialOffset: start?.top ?? 0,
    initialRect: start?.rect ?? { width: 0, height: 0 },
    overscan,
    useFlushSync: false,
  })
  const placed = virtual.getVirtualItems()
  const reached = useRef<RowGoal>(undefined)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each step of a search is a new goal
  useEffect(() => {
    const element = scroller.current
    // The list is left for a new goal first. An old one must not pull the reader back, who has gone elsewhere since.
    if (goal === undefined || goal === reached.current || (inFlow && blocks.length > few)) return
    reached.current = goal
    if (inFlow || goal.index < 0 || element === null) return
    let left = mostTries
    let drawn = 0
    // The heights of rows that were never drawn are estimated, so one try may miss a distant row, and a row that was
    // reached may move out of sight again when the rows above it are measured.
    return inEachFrame(element, () => {
      const isDrawn = element.querySelector(`.placed[data-index="${goal.index}"]`) !== null
      drawn = isDrawn ? drawn + 1 : 0
      if (drawn === stays || left === 0) return false
      if (!isDrawn) {
        left -= 1
        virtual.scrollToIndex(goal.index, { align: 'center' })
      }
      return true
    })
  }, [goal, inFlow])
  const rowAt = (index: number, top?: number): ReactNode => {
    const block = blocks[index]
    const continued = block !== undefined && goesOn(blocks[index - 1], block)
    return (
      block && (
        <Row
          key={block.key}
          block={block}
          continued={continued}
          index={index}
          top={top}
          measure={inFlow ? undefined : virtual.measureElement}
        />
      )
    )
  }
  return (
    <div className="blocks-inner" style={inFlow ? undefined : { height: virtual.getTotalSize() }}>
      {from > 0 && <div style={{ height: above }} />}
      {inFlow ? blocks.slice(from).map((_, i) => rowAt(from + i)) : placed.map((each) => rowAt(each.index, each.start))}
    </div>
  )
}

/** Where the list was when the reader began to scroll, and the heights of the rows that were in the page then. */
interface Start {
  readonly top: number
  readonly rect: { readonly width: number; readonly height: number }
  readonly heights: ReadonlyMap<string, number>
}

/** Each row keeps its place this way: with estimated heights, the list jumped, at times back to its end. */
function startOf(scroller: HTMLElement | null): Start | undefined {
  if (scroller === null) return undefined
  const rows = [...scroller.querySelectorAll<HTMLElement>('.row')]
  return {
    top: scroller.scrollTop,
    rect: { width: scroller.clientWidth, height: scroller.clientHeight },
    heights: new Map(rows.map((row) => [row.dataset.row ?? '', row.offsetHeight])),
  }
}

const sizeAtStart = (block: Block, start: Start | undefined): number => start?.heights.get(block.key) ?? rowSize(block)

interface RowProps {
  readonly block: Block
  readonly continued: boolean
  readonly index: number
  /** Its position in a list that the reader has scrolled. */
  readonly top: number | undefined
  readonly measure: ((row: HTMLElement | null) => void) | undefined
}

const Row = memo(function Row({ block, continued, index, top, measure }: RowProps) {
  return (
    <div
      ref={measure}
      className={top === undefined ? 'row' : 'row placed'}
      data-row={block.key}
      data-index={index}
      style={top === undefined ? undefined : { transform: `translateY(${top}px)` }}
    >
      <div className={`block ${block.kind} ${continued ? 'continued' : ''}`} data-key={block.key}>
        {block.kind === 'lanes' ? <LanesRow block={block} /> : <ItemRow item={block.item} />}
      </div>
    </div>
  )
})

/** Whether the same agent continues, in which case its name is not repeated. */
function goesOn(before: Block | undefined, { kind, ...block }: Block): boolean {
  if (kind !== 'item' || before?.kind !== 'item' || !('item' in block)) return false
  const [a, b] = [before.item, block.item]
  return a.kind === 'message' && b.kind === 'message' && a.role !== 'user' && a.author === b.author && a.run === b.run
}
