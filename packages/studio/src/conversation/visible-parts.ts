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

/** The runs in which a question is shown. */
export function runsWithQuestion(items: Iterable<Item>): ReadonlySet<string> {
  const runs = new Set<string>()
  for (const item of items) if (item.kind === 'interrupt') runs.add(item.run)
  return runs
}

/** The ADK call that asked a question is left out where the question itself is shown. */
export function isAskingCall(item: Item, asked: ReadonlySet<string>): boolean {
  return item.kind === 'message' && asked.has(item.run) && item.parts.length > 0 && item.parts.every(isRequest)
}

const isRequest = (part: Part): boolean => part.kind === 'tool' && part.name.startsWith('adk_request_')
