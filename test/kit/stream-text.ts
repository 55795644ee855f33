import { get } from 'node:http'

const heartbeat = ': heartbeat\n\n'

/** What one client received until its connection broke, without heartbeats: they come by the clock, not from the log. */
export class StreamText {
  #text = ''

  /** Resolves once the answer begins, or cannot. */
  static open(url: string): Promise<StreamText> {
    const stream = new StreamText()
    return new Promise((resolve) => {
      const request = get(url, { agent: false }, (response) => {
        response.setEncoding('utf8')
        response.on('error', () => {})
        response.on('data', (text: string) => {
          stream.#text = (stream.#text + text).replaceAll(heartbeat, '')
        })
        resolve(stream)
      })
      request.on('error', () => resolve(stream))
    })
  }

  get length(): number {
    return this.#text.length
  }

  /** Where the rows, printed, do not begin with what was received: the place, and both sides of it. Else undefined. */
  partsFrom(printed: string): string | undefined {
    const last = this.#text.lastIndexOf('\n\n') + 2
    // The connection may have broken inside a heartbeat.
    const received = heartbeat.startsWith(this.#text.slice(last)) ? this.#text.slice(0, last) : this.#text
    if (printed.startsWith(received)) return undefined
    let at = 0
    while (at < received.length && received[at] === printed[at]) at += 1
    const near = (text: string): string => JSON.stringify(text.slice(Math.max(0, at - 200), at + 200))
    return `after ${at} characters the client received\n${near(received)}\nand the log has\n${near(printed)}`
  }
}

/** Resolves once the clients have so many characters, all together. */
export async function heard(streams: readonly StreamText[], amount: number): Promise<void> {
  while (streams.reduce((sum, { length }) => sum + length, 0) < amount)
    await new Promise((resolve) => setTimeout(resolve, 2))
}
