import type { AdkEvent } from './adk-event.ts'
import { isObject } from './json.ts'

/** What `ingest` makes of one ADK event off a wire: the canonical event and its stable message id, or why not. */
export type Ingested = { readonly event: AdkEvent; readonly message: string } | { readonly reason: string }

/**
 * Normalises ADK events of both flavours and joins partials to their aggregate (SPEC 1.4). ADK gives every partial and
 * every aggregate a new id, so the join is by (invocation, author, branch, run of partials), made once, here.
 */
export function adkIngest(): (raw: unknown) => Ingested {
  const streaming = new Map<string, string>()
  return (raw) => {
    if (!isObject(raw)) return { reason: 'not an object' }
    const { id, author, invocationId, timestamp } = raw
    if (typeof id !== 'string' || typeof author !== 'string') return { reason: 'no id or author' }
    const event: AdkEvent = {
      ...raw,
      id,
      author,
      invocationId: typeof invocationId === 'string' ? invocationId : '',
      timestamp: milliseconds(timestamp),
    }
    const lane = `${event.invocationId}\n${author}\n${event.branch ?? ''}`
    const open = streaming.get(lane)
    if (event.partial === true) {
      if (open === undefined) streaming.set(lane, id)
      return { event, message: open ?? id }
    }
    const answers = event.content?.parts?.some((part) => part.functionResponse !== undefined) === true
    if (open === undefined || answers) return { event, message: id }
    streaming.delete(lane)
    return { event, message: open }
  }
}

/** ADK JS writes milliseconds, ADK Python seconds: 1e11 ms is 1973, 1e11 s is the year 5138. */
function milliseconds(timestamp: unknown): number {
  if (typeof timestamp !== 'number' || !Number.isFinite(timestamp)) return 0
  return timestamp < 1e11 ? timestamp * 1000 : timestamp
}
