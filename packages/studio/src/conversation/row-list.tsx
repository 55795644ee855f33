import type { Block } from '@millrace/core'
import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, type RefObject, useEffect, useLayoutEffect, useMemo } from 'react'
import { inEachFrame } from './bring-into-view.ts'
import { ItemRow } from './item-row.tsx'
import { LanesRow } from './lanes-row.tsx'
import { rowSize, tailOf } from './row-size.ts'
import type { RowGoal } from './use-find-marks.ts'

interface ListProps {
  readonly blocks: readonly Block[]
}

/** A short list: all rows are in the page. */
export function FewRows({ blocks }: ListProps) {
  return (
    <div className="blocks-inner">
      {blocks.map((block, i) => (
        <Row key={block.key} block={block} continued={goesOn(blocks[i - 1], block)} />
      ))}
    </div>
  )
}

/**
 * The end of a long list, below a spacer for the rows above it. Nothing is measured: even with a thousand rows, a token
 * or a step of the cursor costs only as much as the rows on the screen.
 */
export function EndOfList({ blocks }: ListProps) {
  const { from, above } = useMemo(() => tailOf(blocks, innerHeight * 1.2), [blocks])
  return (
    <div className="blocks-inner">
      <div style={{ height: above }} />
      {blocks.slice(from).map((block, i) => (
        <Row key={block.key} block={block} continued={goesOn(blocks[from + i - 1], block)} />
      ))}
    </div>
  )
}

interface ManyRowsProps extends ListProps {
  readonly scroller: RefObject<HTMLDivElement | null>
  /** How far above the end the reader was before this list was drawn, in pixels. */
  readonly away: RefObject<number>
  /** The row that a search shows, or the one with a lit card. */
  readonly goal: RowGoal | undefined
}

/** Frames in which the list tries to reach a row, and in which the row must stay drawn. */
const mostTries = 60
const stays = 10

/** Pixels above the end at which the list starts for a reader who has only begun to scroll. */
const oneRow = 80

/** A long list that the reader has scrolled: only the rows on the screen, at their positions. */
export function ManyRows({ blocks, scroller, away, goal }: ManyRowsProps) {
  const virtual = useVirtualizer({
    count: blocks.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => rowSize(blocks[index] as Block),
    getItemKey: (index) => blocks[index]?.key ?? index,
    initialOffset: () => scroller.current?.scrollTop ?? 0,
    overscan: 6,
    useFlushSync: false,
  })
  useLayoutEffect(() => {
    const element = scroller.current
    // This list replaces `EndOfList`, so start where the reader was, one row up. A reader further away (Home, a page up,
    // the focus on a row above) stays there: both lists estimate the same heights.
    if (element !== null && away.current < oneRow)
      element.scrollTop = element.scrollHeight - element.clientHeight - oneRow
  }, [scroller, away])
  // biome-ignore lint/correctness/useExhaustiveDependencies: each step of a search is a new goal
  useEffect(() => {
    const element = scroller.current
    if (goal === undefined || goal.index < 0 || element === null) return
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
  }, [goal])
  return (
    <div className="blocks-inner" style={{ height: virtual.getTotalSize() }}>
      {virtual.getVirtualItems().map(({ index, key, start }) => {
        const block = blocks[index]
        if (block === undefined) return null
        return (
          <div
            key={key}
            ref={virtual.measureElement}
            data-index={index}
            className="placed"
            style={{ transform: `translateY(${start}px)` }}
          >
            <Row block={block} continued={goesOn(blocks[index - 1], block)} />
          </div>
        )
      })}
    </div>
  )
}

const Row = memo(function Row({ block, continued }: { readonly block: Block; readonly continued: boolean }) {
  return (
    <div className={`block ${block.kind} ${continued ? 'continued' : ''}`} data-key={block.key}>
      {block.kind === 'lanes' ? <LanesRow block={block} /> : <ItemRow item={block.item} />}
    </div>
  )
})

/** Whether the same agent continues, in which case its name is not repeated. */
function goesOn(before: Block | undefined, { kind, ...block }: Block): boolean {
  if (kind !== 'item' || before?.kind !== 'item' || !('item' in block)) return false
  const [a, b] = [before.item, block.item]
  return a.kind === 'message' && b.kind === 'message' && a.role !== 'user' && a.author === b.author && a.run === b.run
}
