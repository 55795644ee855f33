import type { Block } from '@millrace/core'
import { useMemo } from 'react'
import { stepLit, useLit } from '../session/lit.ts'
import { IconButton } from '../ui/controls.tsx'
import { Icon } from '../ui/icon.tsx'
import type { LitCard } from './lit-cards.ts'
import { rowSize } from './row-size.ts'
import './lit-bar.css'

/** Counts the cards that hold the figure chosen in the proof panel, and steps through them. */
export function LitBar({ cards }: { readonly cards: readonly LitCard[] }) {
  const current = useLit((state) => state.current)
  if (cards.length === 0) return null
  const count = cards.length.toLocaleString('en')
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div className="lit-bar" role="group" aria-label="Cards that hold the figure" data-testid="lit-bar">
      <Icon name="proof" size={14} />
      <span className="lit-count number" role="status">
        {current === undefined
          ? `${count} ${cards.length === 1 ? 'card holds' : 'cards hold'} the chosen figure`
          : `Card ${(current + 1).toLocaleString('en')} of ${count} with the chosen figure`}
      </span>
      <IconButton
        icon="up"
        label="Previous card"
        data-testid="lit-previous"
        onClick={() => stepLit(-1, cards.length)}
      />
      <IconButton icon="down" label="Next card" data-testid="lit-next" onClick={() => stepLit(1, cards.length)} />
      <IconButton icon="close" label="Clear the highlight" onClick={() => useLit.getState().light([])} />
    </div>
  )
}

/** Marks beside the scroll bar, at the places of the lit cards. */
export function LitMarks({ cards, blocks }: { readonly cards: readonly LitCard[]; readonly blocks: readonly Block[] }) {
  const current = useLit((state) => state.current)
  const tops = useMemo(() => topsOf(cards, blocks), [cards, blocks])
  if (cards.length === 0) return null
  return (
    <div className="lit-marks" aria-hidden="true" data-testid="lit-marks">
      {tops.map(({ key, top }) => (
        <i key={key} className={key === cards[current ?? -1]?.key ? 'now' : ''} style={{ top: `${top}%` }} />
      ))}
    </div>
  )
}

/** Where the rows of the cards begin, in percent of the whole conversation. One mark for each row. */
function topsOf(cards: readonly LitCard[], blocks: readonly Block[]): readonly { key: string; top: number }[] {
  const wanted = new Set(cards.map(({ index }) => index))
  if (wanted.size === 0) return []
  let height = 0
  const starts = blocks.map((block, index) => {
    const start = height
    height += rowSize(block)
    return { key: block.key, index, start }
  })
  const all = Math.max(1, height)
  return starts.flatMap(({ key, index, start }) => (wanted.has(index) ? [{ key, top: (start / all) * 100 }] : []))
}
