import { HttpAgent, type RunAgentInput } from '@ag-ui/client'
import type { ThreadHistoryAdapter } from '@assistant-ui/react'

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
    return reader.run(input)
  }
}
