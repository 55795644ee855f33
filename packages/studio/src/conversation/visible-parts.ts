import type { Item, Message, Part } from '@millrace/core'

/** Whether a row has anything to show. The start of a run, debug logs and messages without visible parts have not. */
export function isVisible(item: Item): boolean {
  if (item.kind === 'start') return item.forkOf !== undefined
  if (item.kind === 'log') return item.level !== 'debug'
  return item.kind !== 'message' || item.error !== undefined || visibleParts(item).length > 0
}

export const visibleParts = ({ parts }: Message): readonly Part[] =>
  parts.filter((part) => {
    if (part.kind === 'text' || part.kind === 'thought') return part.text !== ''
    // A successful transfer has its own row.
    return part.kind !== 'tool' || part.name !== 'transfer_to_agent' || part.status === 'error'
  })
