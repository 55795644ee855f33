import type { Block, Item } from '@millrace/core'
import { isVisible } from './visible-parts.ts'

/** One card of the conversation that is lit: its row, and which of the lit cards of that row. */
export interface LitCard {
  readonly key: string
  readonly index: number
  readonly nth: number
  /** The call of a tool card, or the seq at which a message ended. */
  readonly id: string | number
}

/** The lit cards on the page. It selects the cards that `litCards` counts. */
export const litSelector = '.tool.lit, .message.lit:not(:has(.tool.lit))'

/** All lit cards of the conversation, from the first row on, whether they are on the page or scrolled away. */
export function litCards(
  blocks: readonly Block[],
  calls: ReadonlySet<string>,
  seqs: ReadonlySet<number>,
): readonly LitCard[] {
  if (seqs.size === 0) return []
  return blocks.flatMap((block, index) => {
    const items = block.kind === 'item' ? [block.item] : block.lanes.flatMap(({ items }) => items.filter(isVisible))
    const ids = items.flatMap((item) => litIn(item, calls, seqs))
    return ids.map((id, nth) => ({ key: block.key, index, nth, id }))
  })
}

function litIn(item: Item, calls: ReadonlySet<string>, seqs: ReadonlySet<number>): readonly (string | number)[] {
  if (item.kind !== 'message' || item.role === 'user') return []
  const cards = item.parts.flatMap((part) => (part.kind === 'tool' && calls.has(part.call) ? [part.call] : []))
  if (cards.length > 0) return cards
  return item.endSeq !== undefined && seqs.has(item.endSeq) ? [item.endSeq] : []
}
