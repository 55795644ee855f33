import type { Block } from '@millrace/core'
import { type RefObject, useEffect, useMemo } from 'react'
import { type InView, settleInView } from './bring-into-view.ts'
import { placesOf, sameLength } from './find-matches.ts'
import { useFindBar } from './find-store.ts'

/** The row that the list must show, because the current match is in it, or a card that is lit. Each step is a new object. */
export interface RowGoal {
  readonly key: string
  readonly index: number
}

/** What holds no words of the conversation: names, times and buttons. */
const besides = 'header, footer, button, .visually-hidden'
const lineBreaks = 'p, li, td, th, pre, h1, h2, h3, h4, h5, h6, summary, div, section, blockquote'

/** Marks all matches that are on the page, and brings the current one into view. `leave` stops following the end. */
export function useFindMarks(
  scroller: RefObject<HTMLDivElement | null>,
  blocks: readonly Block[],
  leave: () => void,
): RowGoal | undefined {
  const { open, text, current, matches } = useFindBar()
  const match = matches[current]
  const wanted = sameLength(text.trim())
  const isWanted = open && match !== undefined
  // biome-ignore lint/correctness/useExhaustiveDependencies: a token moves no match; the list is looked up by each step
  const goal = useMemo(
    () =>
      match === undefined ? undefined : { key: match.key, index: blocks.findIndex(({ key }) => key === match.key) },
    [match],
  )
  // Each step leaves the end again: the match before may have been there.
  useEffect(() => {
    if (isWanted && goal !== undefined) leave()
  }, [isWanted, goal, leave])
  useEffect(() => {
    const element = scroller.current
    if (element === null || !open || wanted === '' || !('highlights' in CSS)) return
    let frame = 0
    let shown = false
    let wantedPlace: InView | undefined
    let settled = (): void => {}
    const draw = (): void => {
      frame = 0
      const rows = [...element.querySelectorAll<HTMLElement>('.block[data-key]')]
      const row = rows.find(({ dataset }) => dataset.key === match?.key)
      if (row !== undefined && !shown) unfold(row, wanted)
      const all = rows.flatMap((each) => rangesIn(each, wanted))
      const own = row === undefined ? [] : rangesIn(row, wanted)
      const now = own[Math.min(match?.nth ?? 0, own.length - 1)]
      CSS.highlights.set('found', new Highlight(...all))
      CSS.highlights.set('found-now', new Highlight(...(now === undefined ? [] : [now])))
      wantedPlace = now ?? row
      if (row === undefined || shown) return
      shown = true
      settled = settleInView(element, () => wantedPlace)
    }
    const soon = (): void => {
      if (frame === 0) frame = requestAnimationFrame(draw)
    }
    // Rows come and go while the reader scrolls.
    const changed = new MutationObserver(soon)
    changed.observe(element, { childList: true, subtree: true, characterData: true })
    soon()
    return () => {
      changed.disconnect()
      settled()
      cancelAnimationFrame(frame)
      CSS.highlights.delete('found')
      CSS.highlights.delete('found-now')
    }
  }, [scroller, open, wanted, match])
  return open ? goal : undefined
}

/** Opens what is folded away and has the text. */
function unfold(row: HTMLElement, wanted: string): void {
  for (const details of row.querySelectorAll('details'))
    if (!details.open && sameLength(details.textContent ?? '').includes(wanted)) details.open = true
}

/** The matches in a row. A match may begin in one text node and end in another, but never crosses a line break. */
function rangesIn(row: HTMLElement, wanted: string): readonly Range[] {
  const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement?.closest(besides) === null ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_REJECT,
  )
  const nodes: { readonly node: Node; readonly start: number }[] = []
  let text = ''
  let line: Element | null | undefined
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const own = node.parentElement?.closest(lineBreaks)
    if (line !== undefined && own !== line) text += '\n'
    line = own
    nodes.push({ node, start: text.length })
    text += node.nodeValue ?? ''
  }
  const placed = (at: number): readonly [Node, number] | undefined => {
    const found = nodes.findLast(({ start }) => start <= at)
    return found === undefined ? undefined : [found.node, Math.min(at - found.start, found.node.nodeValue?.length ?? 0)]
  }
  return placesOf(sameLength(text), wanted).flatMap((at) => {
    const [from, to] = [placed(at), placed(at + wanted.length - 1)]
    if (from === undefined || to === undefined) return []
    const range = document.createRange()
    range.setStart(...from)
    range.setEnd(to[0], to[1] + 1)
    return [range]
  })
}
