import type { ChildProcess } from 'node:child_process'
import { forkChild } from './fork-child.ts'
import type { ToProcess } from './protocol.ts'

/** The spare starts when no agent has loaded for this long, in ms: it must not slow down those that load. */
const quiet = 10_000

/**
 * One process that has imported the packages of an engine and has no agent yet. The next agent that needs a process
 * gets it, so that an edit, or a run after an idle time, does not wait for the import of ADK.
 */
export class SpareProcess {
  readonly #memory: number
  readonly #engines = new Set<string>()
  #child: ChildProcess | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(memory: number) {
    this.#memory = memory
  }

  /** The spare process, when there is one. The caller owns it from now on. */
  take(): ChildProcess | undefined {
    clearTimeout(this.#timer)
    const child = this.#child
    this.#child = undefined
    child?.off('error', ignore)
    return child?.connected === true ? child : undefined
  }

  /** An agent of this engine has loaded: the next one will most likely need the same packages. */
  prepare(engine: string): void {
    this.#engines.add(engine)
    clearTimeout(this.#timer)
    if (this.#isClosed) return
    this.#timer = setTimeout(() => this.#start(), quiet)
    this.#timer.unref()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    if (this.#child?.connected === true) this.#child.disconnect()
  }

  #start(): void {
    if (this.#child?.connected !== true) {
      this.#child = forkChild(this.#memory)
      // One that cannot be started is not connected either, and `take` leaves it out.
      this.#child.on('error', ignore)
    }
    const message: ToProcess = { kind: 'prepare', engines: [...this.#engines] }
    this.#child.send([JSON.stringify(message)], ignore)
  }
}

const ignore = (): void => undefined
