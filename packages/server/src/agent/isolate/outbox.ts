import { type FromProcess, noAnswer, printSent } from './protocol.ts'

/**
 * What the process of an agent sends to the server, as lists of texts. What the runs send at the end of a turn of the
 * event loop goes as one list, because each sending costs both processes system calls.
 */
export class Outbox {
  readonly #ipc: (texts: readonly string[], sent: () => void) => void
  /** They go with the next sending. */
  #texts: string[] = []
  #ends: (() => void)[] = []
  #isEnding = false

  constructor(ipc: (texts: readonly string[], sent: () => void) => void) {
    this.#ipc = ipc
  }

  /** Throws when something in the message is not JSON. */
  send(message: FromProcess, sent: () => void = () => undefined): void {
    this.#texts.push(printSent(message))
    // Nothing waits for a report.
    if (this.#isEnding || (message.kind === 'calls' && message.of === noAnswer)) return
    this.#flush(sent)
  }

  /** Calls back at the end of this turn; what the callbacks send goes together. They must not throw. */
  atEndOfTurn(end: () => void): void {
    if (this.#ends.length === 0) setImmediate(() => this.#endTurn())
    this.#ends.push(end)
  }

  #endTurn(): void {
    const ends = this.#ends
    this.#ends = []
    this.#isEnding = true
    for (const end of ends) end()
    this.#isEnding = false
    if (this.#texts.length > 0) this.#flush(() => undefined)
  }

  #flush(sent: () => void): void {
    const texts = this.#texts
    this.#texts = []
    this.#ipc(texts, sent)
  }
}
