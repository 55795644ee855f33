import type { Block, Item } from '@millrace/core'

/** The estimated height of a row in pixels, so that the scroll bar is about right before everything is drawn. */
export function rowSize(block: Block): number {
  if (block.kind === 'lanes')
    return Math.max(...block.lanes.map(({ items }) => 60 + items.reduce((sum, item) => sum + itemSize(item), 0)))
  return itemSize(block.item)
}

function itemSize(item: Item): number {
  if (item.kind === 'end') return 48
  if (item.kind === 'interrupt') return 180
  if (item.kind !== 'message') return 42
  const words = Math.ceil(item.text.length / 88) * 25
  const parts = item.parts.reduce((sum, { kind }) => sum + (kind === 'text' ? 8 : kind === 'thought' ? 30 : 46), 0)
  return 40 + words + parts
}

/** The last rows, which fill `height`, and `more` rows before them: the index of the first, and the estimated height above. */
export function tailOf(
  rows: readonly Block[],
  height: number,
  more: number,
): { readonly from: number; readonly above: number } {
  let left = height
  let from = rows.length
  while (from > 0 && left > 0) {
    from -= 1
    left -= rowSize(rows[from] as Block)
  }
  from = Math.max(0, from - more)
  let above = 0
  for (let i = 0; i < from; i++) above += rowSize(rows[i] as Block)
  return { from, above }
}
