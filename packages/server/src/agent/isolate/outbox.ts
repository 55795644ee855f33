import { type FromProcess, printSent } from './protocol.ts'

/** UTF-16 units that wait for the end of a turn: the server begins with them while this process goes on. */
const enough = 64 * 1024

/**
 * What the process of an agent sends to the server, as lists of texts. What the runs say in one turn of the event loop
 * goes as one list, because each sending costs both processes system calls.
 */
export class Outbox {
  readonly #ipc: (texts: readonly string[], sent: () => void) => void
  /** They go with the next sending. */
  #texts: string[] = []
  #length = 0
  #ends: (() => void)[] = []
  #isScheduled = false

  constructor(ipc: (texts: readonly string[], sent: () => void) => void) {
    this.#ipc = ipc
  }

  /** Sends at once. Throws when something in the message is not JSON. */
  send(message: FromProcess, sent?: () => void): void {
    this.#add(message)
    this.flush(sent)
  }

  /** Sends at the end of this turn, together with what others send. Throws as `send` does. */
  sendSoon(message: FromProcess): void {
    this.#add(message)
    if (this.#length > enough) this.flush()
    else this.#schedule()
  }

  /** Calls back at the end of this turn. The callbacks must not throw. */
  atEndOfTurn(end: () => void): void {
    this.#ends.push(end)
    this.#schedule()
  }

  /** Sends what waits. */
  flush(sent: () => void = () => undefined): void {
    const texts = this.#texts
    this.#texts = []
    this.#length = 0
    if (texts.length > 0) this.#ipc(texts, sent)
  }

  #add(message: FromProcess): void {
    const text = printSent(message)
    this.#texts.push(text)
    this.#length += text.length
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      const ends = this.#ends
      this.#ends = []
      for (const end of ends) end()
      this.flush()
      this.#isScheduled = false
      if (this.#ends.length > 0) this.#schedule()
    })
  }
}
