import type { HttpAgentClass } from './ag-ui-clients.ts'

/** The class of `ag-ui-thread-agent.ts`, over a client of 0.x. */
export function threadAgentFor(HttpAgent: HttpAgentClass): HttpAgentClass {
  const Base = HttpAgent as unknown as new (...config: unknown[]) => HttpAgentInside
  class ThreadReader extends Base {
    override requestInit() {
      return {
        method: 'GET',
        headers: { ...this.headers, accept: 'text/event-stream' },
        signal: this.abortController.signal,
      }
    }
  }
  class OlderThreadAgent extends Base {
    override connect(input: { readonly threadId: string }) {
      const path = `../sessions/${encodeURIComponent(input.threadId)}/events?dialect=ag-ui-0&from=live&until=idle`
      const reader = new ThreadReader({ url: new URL(path, this.url).href, headers: this.headers })
      reader.abortController = this.abortController
      return reader.run(input)
    }
  }
  return OlderThreadAgent as unknown as HttpAgentClass
}

/** The protected members that the class uses. They are the same in all versions. */
interface HttpAgentInside {
  url: string
  headers: Record<string, string>
  abortController: AbortController
  requestInit(input: unknown): RequestInit
  connect(input: unknown): unknown
  run(input: unknown): unknown
}
