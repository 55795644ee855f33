import { MillraceError, type Problem, type RunEvent } from '@millrace/core'
import type { RunContext } from '../agent.ts'
import type { ReadyIterator } from '../lazy-stream.ts'
import { callFunction, problemOfCall } from './context-functions.ts'
import { eventsOnTheWay, type FromProcess, type ToProcess } from './protocol.ts'

const finished: IteratorReturnResult<undefined> = { done: true, value: undefined }

/** A run in the process of its agent, as the server reads it. */
export class ProcessRun implements AsyncIterableIterator<RunEvent>, ReadyIterator<RunEvent> {
  readonly #call: number
  readonly #context: RunContext
  readonly #send: (message: ToProcess) => void
  #queue: readonly RunEvent[] = []
  #head = 0
  #later: (readonly RunEvent[])[] = []
  #taken = 0
  #over = false
  #failure: MillraceError | undefined
  #reader: { resolve(result: IteratorResult<RunEvent>): void; reject(error: unknown): void } | undefined

  constructor(call: number, context: RunContext, send: (message: ToProcess) => void) {
    this.#call = call
    this.#context = context
    this.#send = send
    if (context.signal.aborted) this.#abort()
    else context.signal.addEventListener('abort', this.#abort, { once: true })
  }

  take(message: FromProcess): void {
    if (message.kind === 'events') {
      this.#later.push(message.events)
      this.#serve()
    } else if (message.kind === 'calls') void this.#answer(message.of, message.name, message.args)
  }

  /** No more events will come. Those that have come can still be read. */
  end(problem?: Problem): void {
    if (this.#over) return
    this.#over = true
    this.#context.signal.removeEventListener('abort', this.#abort)
    if (problem !== undefined) this.#failure = new MillraceError(problem.code, problem.message)
    this.#serve()
  }

  over(): boolean {
    return this.#over
  }

  ready(): RunEvent | undefined {
    return this.#shift()
  }

  next(): Promise<IteratorResult<RunEvent>> {
    const value = this.#shift()
    if (value !== undefined) return Promise.resolve({ done: false, value })
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject }
      this.#serve()
    })
  }

  return(): Promise<IteratorResult<RunEvent>> {
    if (!this.#over) this.#abort()
    this.#queue = []
    this.#head = 0
    this.#later = []
    return Promise.resolve(finished)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #serve(): void {
    const reader = this.#reader
    if (reader === undefined) return
    const value = this.#shift()
    if (value === undefined && !this.#over) return
    this.#reader = undefined
    if (value !== undefined) reader.resolve({ done: false, value })
    else if (this.#failure === undefined) reader.resolve(finished)
    else reader.reject(this.#failure)
  }

  #shift(): RunEvent | undefined {
    if (this.#head === this.#queue.length) {
      const next = this.#later.shift()
      if (next === undefined) return undefined
      this.#queue = next
      this.#head = 0
    }
    const event = this.#queue[this.#head]
    this.#head += 1
    this.#taken += 1
    if (this.#taken === eventsOnTheWay / 2) {
      if (!this.#over) this.#send({ kind: 'credit', call: this.#call, count: this.#taken })
      this.#taken = 0
    }
    return event
  }

  readonly #abort = (): void => {
    const { reason } = this.#context.signal as { reason?: unknown }
    const problem: Problem =
      reason instanceof MillraceError
        ? { code: reason.code, message: reason.message }
        : { code: 'cancelled', message: 'the run is over' }
    this.#send({ kind: 'abort', call: this.#call, problem })
  }

  async #answer(of: number, name: string, args: unknown): Promise<void> {
    try {
      const value = await callFunction(this.#context, name, args)
      this.#send({ kind: 'returned', call: this.#call, of, value })
    } catch (error) {
      this.#send({ kind: 'threw', call: this.#call, of, problem: problemOfCall(error) })
    }
  }
}
