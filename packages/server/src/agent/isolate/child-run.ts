import {
  type AdkEvent,
  type AdkPart,
  isCallRecord,
  isPartial,
  MillraceError,
  type Problem,
  type RunEvent,
} from '@millrace/core'
import type { Agent, RunContext } from '../agent.ts'
import type { ReadyIterator } from '../lazy-stream.ts'
import { withCleanError } from '../own-secrets.ts'
import { PrintedPartial } from '../printed-partial.ts'
import { messageOf } from '../problem.ts'
import { askingFunctions, problemOfCall } from './context-functions.ts'
import type { Outbox } from './outbox.ts'
import { eventsOnTheWay, type FromProcess, type ToProcess } from './protocol.ts'

type Start = Extract<ToProcess, { kind: 'run' }>
interface Answer {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Where a run sends its messages. */
export type RunOutbox = Pick<Outbox, 'send' | 'sendSoon' | 'atEndOfTurn'>

/**
 * One run inside the agent's process. What the agent yields in one turn of the event loop goes as one message, and the
 * agent waits when the server is far behind.
 */
export class ChildRun {
  readonly #call: number
  readonly #outbox: RunOutbox
  readonly #abort = new AbortController()
  readonly #answers = new Map<number, Answer>()
  #asked = 0
  #batch: RunEvent[] = []
  #credit = eventsOnTheWay
  /** How many events the agent has yielded. */
  #yielded = 0
  #resume: (() => void) | undefined

  constructor(call: number, outbox: RunOutbox) {
    this.#call = call
    this.#outbox = outbox
  }

  /** Runs to the end, and reports it. Never rejects. */
  async drive(agent: Agent, { input, context, functions }: Start, own: Pick<RunContext, 'history' | 'now' | 'newId'>) {
    let problem: Problem | undefined
    let source: ReadyIterator<RunEvent> | undefined
    try {
      const asking = askingFunctions(functions, context, (name, args) => this.#ask(name, args))
      const recorded = functions.includes('recorded') ? { recorded: (count?: number) => this.#recorded(count) } : {}
      const given = { ...context, ...asking, ...recorded, ...own }
      const stream = agent.run(input, { ...given, signal: this.#abort.signal })
      source = stream[Symbol.asyncIterator]()
      while (!this.#abort.signal.aborted) {
        const here = source.ready?.()
        const next = here === undefined ? await source.next() : { done: false as const, value: here }
        if (next.done === true) break
        this.#push(next.value, agent.name)
        if (this.#credit === 0) await this.#room()
      }
      if (this.#batch.length > 0 && !this.#abort.signal.aborted) {
        this.#flush('last')
        return
      }
      this.#flush()
    } catch (error) {
      problem = problemOfCall(error)
      this.#abort.abort(error)
    }
    if (this.#abort.signal.aborted) await source?.return?.().catch(() => undefined)
    this.#outbox.send({ kind: 'end', call: this.#call, ...(problem === undefined ? {} : { problem }) })
  }

  /** Names the count: the server may not have taken yet what is on its way. */
  async #recorded(count = this.#yielded): Promise<void> {
    this.#flush()
    await this.#ask('recorded', [count])
  }

  take(message: ToProcess): void {
    if (message.kind === 'credit') {
      this.#credit += message.count
      this.#wake()
    } else if (message.kind === 'abort') this.abort(message.problem)
    else if (message.kind === 'returned') this.#answered(message.of)?.resolve(message.value)
    else if (message.kind === 'threw')
      this.#answered(message.of)?.reject(new MillraceError(message.problem.code, message.problem.message))
  }

  abort({ code, message }: Problem): void {
    this.#abort.abort(new MillraceError(code, message))
    this.#wake()
  }

  /** Sends what has gathered. Throws when an event is not JSON: a cycle, a big integer. */
  #flush(when: 'now' | 'soon' | 'last' = 'now'): void {
    if (this.#batch.length === 0) return
    const events = this.#batch
    this.#batch = []
    try {
      const message: FromProcess = { kind: 'events', call: this.#call, events, last: when === 'last' }
      if (when === 'now') this.#outbox.send(message)
      else this.#outbox.sendSoon(message)
    } catch (error) {
      throw new MillraceError('garbage', `the agent yielded an event that is not JSON: ${messageOf(error)}`)
    }
  }

  /**
   * Most events wait for the end of this turn: what an agent says in it goes as one message. What an agent may do for
   * ever goes at once, such as the call of a tool that never returns: then the log must name it. Records of calls wait too.
   */
  #push(event: RunEvent, agent: string): void {
    if (this.#batch.length === 0) this.#outbox.atEndOfTurn(this.endTurn)
    this.#batch.push(withCleanError(event))
    this.#yielded += 1
    this.#credit -= 1
    if (!canWait(event, agent)) this.#flush()
  }

  /** The end of a turn. The agent may not look at its signal, so a failure is reported without waiting for it. */
  readonly endTurn = (): void => {
    try {
      this.#flush('soon')
    } catch (error) {
      const problem = problemOfCall(error)
      this.#abort.abort(error)
      this.#wake()
      this.#outbox.send({ kind: 'end', call: this.#call, problem })
    }
  }

  #room(): Promise<void> {
    this.#flush()
    return new Promise((resume) => {
      this.#resume = resume
    })
  }

  #wake(): void {
    this.#resume?.()
    this.#resume = undefined
  }

  #ask(name: string, args: readonly unknown[]): Promise<unknown> {
    const of = ++this.#asked
    return new Promise((resolve, reject) => {
      this.#answers.set(of, { resolve, reject })
      this.#outbox.send({ kind: 'calls', call: this.#call, of, name, args })
    })
  }

  #answered(of: number): Answer | undefined {
    const answer = this.#answers.get(of)
    this.#answers.delete(of)
    return answer
  }
}

/** `agent` is the name of the run's agent: the log has named it when the run started. */
function canWait(event: RunEvent, agent: string): boolean {
  if (event instanceof PrintedPartial) return true
  if (event.kind === 'agent') return isPartial(event.event) || saysOnlyText(event.event)
  if (event.kind === 'node.started') return event.parent === undefined && event.agent === agent
  if (event.kind === 'node.finished') return !event.node.includes('/')
  return event.kind === 'run.finished' || isCallRecord(event)
}

function saysOnlyText({ content, longRunningToolIds = [] }: AdkEvent): boolean {
  return longRunningToolIds.length === 0 && content?.parts?.every(isText) === true
}

function isText(part: AdkPart): boolean {
  for (const key in part) if (key !== 'text' && key !== 'thought') return false
  return true
}
