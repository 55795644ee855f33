import { type BaseEvent, EventType, HttpAgent, type MessagesSnapshotEvent, type RunAgentInput } from '@ag-ui/client'
import type { ThreadHistoryAdapter } from '@assistant-ui/react'
import { mergeMap } from 'rxjs'

/** Reads a thread with a GET, where HttpAgent sends a POST that starts a run. */
class ThreadReader extends HttpAgent {
  protected override requestInit(): RequestInit {
    return { headers: { ...this.headers, accept: 'text/event-stream' }, signal: this.abortController.signal }
  }
}

/**
 * An agent whose threads survive a reload. Its `history` makes the first run of a page a look at the thread: messages,
 * state, open questions, and the rest of a run that is active.
 */
export class MillraceAgent extends HttpAgent {
  #looks = false

  readonly history: ThreadHistoryAdapter = {
    load: async () => {
      this.#looks = true
      return { messages: [], unstable_resume: true }
    },
    // The server has recorded it already.
    append: async () => {},
  }

  override run(input: RunAgentInput) {
    if (!this.#looks) return super.run(input)
    this.#looks = false
    const thread = `/sessions/${encodeURIComponent(input.threadId)}/events`
    const reader = new ThreadReader({ url: `${thread}?dialect=ag-ui-0&from=live&until=idle`, headers: this.headers })
    reader.abortController = this.abortController
    return reader.run(input).pipe(mergeMap((event) => (isSnapshot(event) ? withOpenCalls(event) : [event])))
  }
}

const isSnapshot = (event: BaseEvent): event is MessagesSnapshotEvent => event.type === EventType.MESSAGES_SNAPSHOT

/** assistant-ui loses a question about a call that came in a snapshot, so calls without a result come as events. */
function withOpenCalls(event: MessagesSnapshotEvent): readonly BaseEvent[] {
  const last = event.messages.at(-1)
  if (last?.role !== 'assistant' || last.toolCalls === undefined || last.toolCalls.length === 0) return [event]
  const { id: messageId, content: delta = '', toolCalls } = last
  const text = [
    { type: EventType.TEXT_MESSAGE_START, messageId, role: 'assistant' },
    { type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta },
    { type: EventType.TEXT_MESSAGE_END, messageId },
  ]
  const calls = toolCalls.flatMap(({ id: toolCallId, function: { name, arguments: input } }) => [
    { type: EventType.TOOL_CALL_START, toolCallId, toolCallName: name, parentMessageId: messageId },
    { type: EventType.TOOL_CALL_ARGS, toolCallId, delta: input || '{}' },
    { type: EventType.TOOL_CALL_END, toolCallId },
  ])
  return [{ ...event, messages: event.messages.slice(0, -1) } as BaseEvent, ...(delta === '' ? [] : text), ...calls]
}
