import { get, type IncomingMessage } from 'node:http'

/** What one SSE client has received: whole events, each up to the frame that carries its id (SPEC 2.4). */
export class SseClient {
  /** The text of the frames as received, with comments but without heartbeats. */
  text = ''
  cursor = 0
  /** Frames of an event whose id has not come yet: dropped with the connection, and sent again. */
  #open = ''
  #rest = ''
  readonly #url: { readonly port: number; readonly path: string }
  readonly #headers: Readonly<Record<string, string>>

  constructor(port: number, path: string, headers: Readonly<Record<string, string>> = {}) {
    this.#url = { port, path }
    this.#headers = headers
  }

  /** Reads until the server ends the stream (true), or `leave` says so, the connection breaks or there is no stream (false). */
  read(leave: (received: number) => boolean = () => false): Promise<boolean> {
    this.#open = ''
    this.#rest = ''
    const headers = { ...this.#headers, ...(this.cursor > 0 ? { 'last-event-id': String(this.cursor) } : {}) }
    return new Promise((resolve) => {
      const request = get({ ...this.#url, host: '127.0.0.1', agent: false, headers }, (response: IncomingMessage) => {
        let received = 0
        let left = false
        response.setEncoding('utf8')
        response.on('data', (text: string) => {
          this.#take(text)
          received += text.length
          if (!leave(received)) return
          left = true
          request.destroy()
        })
        // A destroyed request drops the rest of the answer, and may still emit `end`.
        response.on('end', () => resolve(!left && (response.statusCode ?? 500) < 300)) // 204: there is no more
        response.on('error', () => resolve(false))
        response.on('close', () => resolve(false))
      })
      request.on('error', () => resolve(false))
    })
  }

  #take(text: string): void {
    this.#rest += text
    const end = this.#rest.lastIndexOf('\n\n')
    if (end < 0) return
    const frames = this.#rest.slice(0, end).split('\n\n')
    this.#rest = this.#rest.slice(end + 2)
    for (const frame of frames) {
      if (frame.startsWith('retry:') || frame === ': heartbeat') continue
      this.#open += `${frame}\n\n`
      const id = /^id: (\d+)$/m.exec(frame)?.[1]
      if (id === undefined) continue
      this.cursor = Number(id)
      this.text += this.#open
      this.#open = ''
    }
  }
}
