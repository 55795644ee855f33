/** What the pool needs of a process. */
export interface PooledProcess {
  close(reason: string): Promise<void>
}

export interface ProcessPoolOptions {
  /** How many processes load their agents at the same time. */
  readonly loadsAtOnce: number
  /** How long a process without runs stays, in ms. */
  readonly idle: number
  /** How many processes without runs stay. Those that have rested for longest end first. */
  readonly kept: number
}

/** Ends a turn; further calls do nothing. */
export type EndTurn = () => void

/** What the agents of one server share: who loads when, and which processes stay for the next run. */
export class ProcessPool {
  readonly #options: ProcessPoolOptions
  readonly #waiting = new Set<() => void>()
  readonly #resting = new Map<PooledProcess, NodeJS.Timeout>()
  #loads = 0

  constructor(options: ProcessPoolOptions) {
    this.#options = options
  }

  /**
   * Resolves when an agent may load: imports keep a processor busy for seconds, and many of them at once would finish no
   * sooner. An agent whose run waits does not wait for its turn: `hurried` resolves.
   */
  turn(hurried: Promise<void>): Promise<EndTurn> {
    return new Promise((resolve) => {
      const begin = (): void => {
        this.#waiting.delete(begin)
        this.#loads += 1
        let isOver = false
        resolve(() => {
          if (isOver) return
          isOver = true
          this.#loads -= 1
          this.#next()
        })
      }
      this.#waiting.add(begin)
      void hurried.then(() => {
        if (this.#waiting.has(begin)) begin()
      })
      this.#next()
    })
  }

  /** The process has nothing to do: it ends after a time, or when too many others rest. */
  rest(process: PooledProcess): void {
    this.work(process)
    const timer = setTimeout(() => this.#stop(process), Math.min(this.#options.idle, longestTimer))
    timer.unref()
    this.#resting.set(process, timer)
    const [first] = this.#resting.keys()
    if (first !== undefined && this.#resting.size > this.#options.kept) this.#stop(first)
  }

  /** The process has work, or has ended. */
  work(process: PooledProcess): void {
    clearTimeout(this.#resting.get(process))
    this.#resting.delete(process)
  }

  #next(): void {
    const [begin] = this.#waiting
    if (begin !== undefined && this.#loads < this.#options.loadsAtOnce) begin()
  }

  #stop(process: PooledProcess): void {
    this.work(process)
    void process.close('the agent had no runs for a time, and its process was stopped')
  }
}

/** A longer timer of Node fires at once. */
const longestTimer = 2 ** 31 - 1
