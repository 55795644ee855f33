/** Characters that are kept for readers that come while the answer is made, and that may wait for the slowest reader. */
const window = 1024 * 1024
/** How long a reader may take for one window, in ms. A client that stops reading must not keep a thread for ever. */
const patience = 60_000

interface Reader {
  /** How many pieces it has had. */
  at: number
}

/** One answer that is made once, piece by piece, for all who ask for it meanwhile. It is stopped when all have left. */
export class SharedAnswer {
  readonly #make: (signal: AbortSignal) => AsyncIterable<string>
  readonly #onEnd: () => void
  readonly #stop = new AbortController()
  readonly #readers = new Set<Reader>()
  readonly #waiting = new Set<() => void>()
  /** The pieces from number `#dropped` on. */
  #pieces: string[] = []
  #dropped = 0
  #held = 0
  #begun = false
  #ended = false
  #error: unknown

  constructor(make: (signal: AbortSignal) => AsyncIterable<string>, onEnd: () => void) {
    this.#make = make
    this.#onEnd = onEnd
  }

  /** Whether a reader that comes now can still have all of it. */
  get isOpen(): boolean {
    return this.#dropped === 0 && !this.#ended && !this.#stop.signal.aborted
  }

  async *read(signal: AbortSignal): AsyncGenerator<string, void> {
    const reader: Reader = { at: 0 }
    this.#readers.add(reader)
    try {
      if (!this.#begun) void this.#run()
      for (;;) {
        signal.throwIfAborted()
        const piece = this.#pieces[reader.at - this.#dropped]
        if (piece !== undefined) {
          reader.at += 1
          this.#changed()
          yield piece
        } else if (!this.#ended) await this.#change(signal)
        else if (this.#error === undefined) return
        else throw this.#error
      }
    } finally {
      this.#readers.delete(reader)
      if (this.#readers.size === 0) this.#stop.abort(new Error('all readers have left'))
      this.#changed()
    }
  }

  async #run(): Promise<void> {
    this.#begun = true
    try {
      for await (const piece of this.#make(this.#stop.signal)) {
        this.#pieces.push(piece)
        this.#held += piece.length
        this.#changed()
        await this.#room()
      }
    } catch (error) {
      this.#error = error
    }
    this.#ended = true
    this.#onEnd()
    this.#changed()
  }

  /** Waits until the slowest reader has had enough. */
  async #room(): Promise<void> {
    if (this.#held <= window) return
    const patient = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(patience)])
    for (;;) {
      const slowest = Math.min(...[...this.#readers].map(({ at }) => at))
      while (this.#dropped < slowest && this.#pieces.length > 0) {
        this.#held -= this.#pieces.shift()?.length ?? 0
        this.#dropped += 1
      }
      if (this.#held <= window) return
      await this.#change(patient)
    }
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (): void => {
        this.#waiting.delete(done)
        signal.removeEventListener('abort', fail)
        resolve()
      }
      const fail = (): void => {
        this.#waiting.delete(done)
        reject(signal.reason)
      }
      if (signal.aborted) return fail()
      this.#waiting.add(done)
      signal.addEventListener('abort', fail, { once: true })
    })
  }

  #changed(): void {
    for (const done of [...this.#waiting]) done()
  }
}
