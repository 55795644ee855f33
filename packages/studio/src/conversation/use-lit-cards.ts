import type { Block } from '@millrace/core'
import { type RefObject, useEffect, useMemo } from 'react'
import { useLit } from '../session/lit.ts'
import { settleInView } from './bring-into-view.ts'
import { type LitCard, litCards, litSelector } from './lit-cards.ts'

interface LitGoal {
  readonly cards: readonly LitCard[]
  /** The card that the list must show, because the person asked for it. */
  readonly goal: LitCard | undefined
}

/** Finds the cards that hold the chosen figure, and brings the one that the person asks for into view. */
export function useLitCards(
  scroller: RefObject<HTMLDivElement | null>,
  blocks: readonly Block[],
  leave: () => void,
): LitGoal {
  const { calls, seqs, current, asked } = useLit()
  const cards = useMemo(() => litCards(blocks, calls, seqs), [blocks, calls, seqs])
  const { key, index, nth, id } = (current === undefined ? undefined : cards[current]) ?? {}
  // Each token makes new card objects for the same places; only another place is a new goal.
  const goal = useMemo(
    () =>
      key === undefined || index === undefined || nth === undefined || id === undefined
        ? undefined
        : { key, index, nth, id },
    [key, index, nth, id],
  )
  // The highlight belongs to this session alone.
  useEffect(() => () => useLit.getState().light([]), [])
  useEffect(() => {
    if (asked === undefined) return
    const found = cards.findIndex((card) => card.id === asked.call || card.id === asked.seq)
    if (found >= 0) useLit.setState({ current: found, asked: undefined })
  }, [asked, cards])
  useEffect(() => {
    const element = scroller.current
    if (element === null || goal === undefined) return
    leave()
    let frame = 0
    let settled = (): void => {}
    /** The card as it is drawn now, with its mark. */
    const cardOf = (): HTMLElement | undefined => {
      const rows = [...element.querySelectorAll<HTMLElement>('.block[data-key]')]
      const row = rows.find(({ dataset }) => dataset.key === goal.key)
      const card = row?.querySelectorAll<HTMLElement>(litSelector)[goal.nth]
      if (card === undefined || card.classList.contains('lit-now')) return card
      for (const other of element.querySelectorAll('.lit-now')) other.classList.remove('lit-now')
      card.classList.add('lit-now')
      return card
    }
    const look = (): void => {
      frame = 0
      if (cardOf() === undefined) return
      drawn.disconnect()
      settled = settleInView(element, cardOf)
    }
    const soon = (): void => {
      if (frame === 0) frame = requestAnimationFrame(look)
    }
    // The row is drawn once the list has scrolled to it.
    const drawn = new MutationObserver(soon)
    drawn.observe(element, { childList: true, subtree: true })
    soon()
    return () => {
      drawn.disconnect()
      settled()
      cancelAnimationFrame(frame)
      for (const other of element.querySelectorAll('.lit-now')) other.classList.remove('lit-now')
    }
  }, [scroller, goal, leave])
  return { cards, goal }
}
