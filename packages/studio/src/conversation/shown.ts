import type { Item, Message, Part } from '@millrace/core'

/** Whether a row has anything to show: the start of a run and debug notes do not, nor a message without words. */
export function isShown(item: Item): boolean {
  if (item.kind === 'start') return item.forkOf !== undefined
  if (item.kind === 'log') return item.level !== 'debug'
  return item.kind !== 'message' || item.error !== undefined || shownParts(item).length > 0
}

export const shownParts = ({ parts }: Message): readonly Part[] =>
  parts.filter((part) => {
    if (part.kind === 'text' || part.kind === 'thought') return part.text !== ''
    // A transfer that worked has a marker of its own.
    return part.kind !== 'tool' || part.name !== 'transfer_to_agent' || part.status === 'error'
  })
