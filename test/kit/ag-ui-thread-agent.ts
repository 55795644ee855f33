import { HttpAgent, type RunAgentInput } from '@ag-ui/client'

/** Reads a thread with a GET, where HttpAgent sends a POST that starts a run. */
class ThreadReader extends HttpAgent {
  protected override requestInit(): RequestInit {
    const headers = { ...this.headers, accept: 'text/event-stream' }
    return { method: 'GET', headers, signal: this.abortController.signal }
  }
}

/** An agent whose threads survive a reload: `connectAgent()` brings messages, state and the rest of an active run. */
export class MillraceAgent extends HttpAgent {
  protected override connect(input: RunAgentInput) {
    const thread = `../sessions/${encodeURIComponent(input.threadId)}/events`
    const url = new URL(`${thread}?dialect=ag-ui&from=live&until=idle`, this.url).href
    const reader = new ThreadReader({ url, headers: this.headers })
    reader.abortController = this.abortController
    return reader.run(input)
  }
}
