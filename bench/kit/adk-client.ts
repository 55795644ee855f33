import { Agent, request } from 'node:http'

/** A client of ADK's HTTP API that reads streams and throws their bytes away, so that the server is what is measured. */
export class AdkClient {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
  readonly #address: string
  readonly #app: string

  constructor(address: string, app: string) {
    this.#address = address
    this.#app = app
  }

  async create(user: string, session: string): Promise<void> {
    await this.#post(user, `/apps/${this.#app}/users/${user}/sessions/${session}`, {})
  }

  /** Runs the agent to the end of the stream. Milliseconds until the first event, and in all. */
  async run(userId: string, sessionId: string): Promise<Timing> {
    const newMessage = { role: 'user', parts: [{ text: 'Hello' }] }
    return this.#post(userId, '/run_sse', { appName: this.#app, userId, sessionId, newMessage, streaming: true })
  }

  close(): void {
    this.#agent.destroy()
  }

  #post(user: string, path: string, body: object): Promise<Timing> {
    const text = JSON.stringify(body)
    const authorization = `Bearer ${tokenOf(user)}`
    const headers = { authorization, 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
    const begun = performance.now()
    return new Promise((resolve, reject) => {
      const sent = request(this.#address + path, { method: 'POST', agent: this.#agent, headers }, (answer) => {
        let first: number | undefined
        let started: number | undefined
        let bytes = 0
        let start = ''
        answer.on('data', (chunk: Buffer) => {
          bytes += chunk.length
          // A stream may begin with comments and `retry:`; only `data:` is an event.
          if (first !== undefined) return
          start += chunk.toString('latin1')
          if (start.includes('run.started')) started ??= performance.now() - begun
          if (start.includes('data: ')) first = performance.now() - begun
        })
        answer.on('error', reject)
        answer.on('end', () => {
          const { statusCode = 0 } = answer
          if (statusCode >= 300) reject(new Error(`POST ${path} answered ${statusCode}: ${start.slice(0, 500)}`))
          else
            resolve({ start: started ?? Number.NaN, first: first ?? Number.NaN, all: performance.now() - begun, bytes })
        })
      })
      sent.on('error', reject)
      sent.end(text)
    })
  }
}

/** The token that a server gives this user. */
export const tokenOf = (user: string): string => `bench-token-of-${user}`

export interface Timing {
  /** Until the comment that says that the run has started; ADK alone sends none. */
  readonly start: number
  readonly first: number
  readonly all: number
  readonly bytes: number
}
