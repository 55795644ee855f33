import { HttpAgent } from '@ag-ui/client'
import { AgentRunner } from '@copilotkit/runtime/v2'

/** Reads a thread with a GET, where HttpAgent sends a POST that starts a run. */
class ThreadReader extends HttpAgent {
  requestInit() {
    const headers = { ...this.headers, accept: 'text/event-stream' }
    return { method: 'GET', headers, signal: this.abortController.signal }
  }
}

/** Threads are sessions of Millrace: they survive a reload of the page and a restart of this process. */
export class MillraceRunner extends AgentRunner {
  constructor(address) {
    super()
    this.sessions = `${address}/sessions`
  }
  run({ agent, input }) {
    return agent.run(input)
  }
  connect({ threadId, headers }) {
    const url = `${this.sessions}/${encodeURIComponent(threadId)}/events?dialect=ag-ui-0&from=live&until=idle`
    return new ThreadReader({ url, headers }).run({ threadId, runId: 'connect', messages: [], tools: [], context: [] })
  }
  async isRunning({ threadId }) {
    const answer = await fetch(`${this.sessions}/${encodeURIComponent(threadId)}`)
    return answer.ok && (await answer.json()).status === 'running'
  }
  async stop({ threadId }) {
    return (await fetch(`${this.sessions}/${encodeURIComponent(threadId)}/cancel`, { method: 'POST' })).ok
  }
}
