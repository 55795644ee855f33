import type { ChildProcess } from 'node:child_process'
import { MillraceError, type Problem, type RunEvent, type RunInput } from '@millrace/core'
import { PassingMap } from '@millrace/core/store'
import type { AgentDescription, RunContext } from '../agent.ts'
import { functionNames } from './context-functions.ts'
import { faultOfBlocking, faultOfException, faultOfExit, faultOfMemory, faultOfStart } from './fault.ts'
import { forkChild } from './fork-child.ts'
import { HistorySender } from './history-transfer.ts'
import { ProcessRun } from './process-run.ts'
import { type FromProcess, type OpenAgent, type ProcessUse, readSent, type ToProcess } from './protocol.ts'

export interface ProcessLimits {
  /** How long the agent's code may block its thread while it has work, in ms. */
  readonly blocked: number
  /** How large its JavaScript heap may become, in MB. Buffers are outside of the heap and may take `besideHeap` more. */
  readonly memory: number
}

export interface AgentProcessOptions {
  readonly agent: OpenAgent
  readonly limits: ProcessLimits
  /** A process that already runs and has no agent. */
  readonly spare: ChildProcess | undefined
  /** For the server's log: what went wrong, and where in the agent's code. */
  readonly onFault: (message: string, stack?: string) => void
  /** Called when it has work and when it has none, in turns. */
  readonly onWork: (process: AgentProcess) => void
  readonly onRest: (process: AgentProcess) => void
}

const besideHeap = 512
/** Pings are counted instead of timed: a laptop that slept, or a server that was busy itself, accuses no agent. */
const pings = 30
/** Imports block the thread too: ADK takes seconds, many times more on a busy machine. They get more time. */
const whileLoading = 4
/** How long a process has to end by itself, in ms. It gives its runs a second to end what they started. */
const patience = 1500
/** A process that uses a smaller share of a processor than this waits for something, whatever its event loop says. */
const stillShare = 0.05

interface Question {
  readonly resolve: (description: AgentDescription) => void
  readonly reject: (error: unknown) => void
}

/** One process that runs one agent's code, from its start to its end. After its end a new one is needed. */
export class AgentProcess {
  readonly whenEnded: Promise<void>
  readonly #options: AgentProcessOptions
  readonly #child: ChildProcess
  readonly #runs = new PassingMap<number, ProcessRun>()
  readonly #history = new HistorySender()
  readonly #questions = new Map<number, Question>()
  #calls = 0
  #waiting: string[] = []
  #watch: NodeJS.Timeout | undefined
  #unanswered = 0
  #hasLoaded = false
  #last: ProcessUse = { memory: 0, idle: 0, active: 0, cpu: 0 }
  #idle = 0
  #fault: string | undefined
  #ended = false

  constructor(options: AgentProcessOptions) {
    this.#options = options
    this.#child = options.spare ?? forkChild(options.limits.memory, options.agent.env)
    this.#child.on('message', (sent: unknown) => {
      for (const message of readSent(sent)) this.#take(message)
    })
    this.whenEnded = this.#end()
    this.#send({ kind: 'open', agent: options.agent })
  }

  get ended(): boolean {
    return this.#ended || this.#fault !== undefined || !this.#child.connected
  }

  /** Whether its code has loaded and can run. */
  get loaded(): boolean {
    return this.#hasLoaded && !this.ended
  }

  /** For how many milliseconds since it got its agent it has waited for something, as far as it has told. */
  get idle(): number {
    return this.#idle
  }

  describe(): Promise<AgentDescription> {
    return new Promise((resolve, reject) => {
      const call = this.#number()
      this.#questions.set(call, { resolve, reject })
      this.#send({ kind: 'describe', call })
    })
  }

  run(input: RunInput, context: RunContext): AsyncIterable<RunEvent> {
    const call = this.#number()
    const { signal, now, newId, history: rows, ...data } = context
    const history = this.#history.send(context.session, rows)
    this.#send({ kind: 'run', call, input, context: data, history, functions: functionNames(data) })
    const run = new ProcessRun(call, context, (message) => this.#send(message))
    this.#runs.set(call, run)
    return run
  }

  /** Ends it; runs that are still active fail with the reason. */
  async close(reason = 'the server stopped'): Promise<void> {
    this.#fault ??= reason
    if (this.#child.connected) this.#child.disconnect()
    const timer = setTimeout(() => this.#kill(), patience)
    await this.whenEnded
    clearTimeout(timer)
  }

  #number(): number {
    this.#calls += 1
    if (this.#watch === undefined) this.#work()
    return this.#calls
  }

  /** Runs that begin together go as one sending, which costs both processes system calls. */
  #send(message: ToProcess): void {
    const text = JSON.stringify(message)
    if (this.#waiting.length === 0) process.nextTick(() => this.#flush())
    this.#waiting.push(text)
  }

  #flush(): void {
    const texts = this.#waiting
    this.#waiting = []
    // A callback, so that a channel that has closed is no exception: `#end` deals with it.
    if (this.#child.connected) this.#child.send(texts, () => undefined)
  }

  #take(message: FromProcess): void {
    this.#unanswered = 0
    this.#hasLoaded ||= message.kind === 'described' || message.kind === 'events'
    if (message.kind === 'pong') this.#weigh(message.used)
    else if (message.kind === 'stray') this.#options.onFault(`unhandled rejection: ${message.message}`, message.stack)
    else if (message.kind === 'fault') {
      this.#fault ??= faultOfException(this.#name, message.message)
      this.#options.onFault(this.#fault, message.stack)
    } else if (message.kind === 'described') {
      this.#questions.get(message.call)?.resolve(message.description)
      this.#questions.delete(message.call)
    } else if (message.kind === 'end') {
      this.#over(message.call, message.problem)
      // The file did not load this time, for example without its database: the next run loads it anew.
      if (!this.#hasLoaded && message.problem !== undefined && this.#runs.size === 0) void this.close()
    } else {
      this.#runs.get(message.call)?.take(message)
      if (message.kind === 'events' && message.last === true) this.#over(message.call)
    }
    if (this.#watch !== undefined && this.#runs.size + this.#questions.size === 0) this.#rest()
  }

  #over(call: number, problem?: Problem): void {
    this.#runs.get(call)?.end(problem)
    this.#runs.delete(call)
  }

  /** It has work: it keeps the server's process alive, and is asked whether it still answers. */
  #work(): void {
    this.#unanswered = 0
    this.#options.onWork(this)
    this.#child.ref()
    this.#child.channel?.ref()
    const { blocked } = this.#options.limits
    this.#watch = setInterval(() => {
      const factor = this.#hasLoaded ? 1 : whileLoading
      if (this.#unanswered >= pings * factor) this.#stop(faultOfBlocking(this.#name, blocked * factor))
      this.#unanswered += 1
      this.#send({ kind: 'ping' })
    }, blocked / pings)
  }

  #rest(): void {
    clearInterval(this.#watch)
    this.#watch = undefined
    this.#child.unref()
    this.#child.channel?.unref()
    this.#options.onRest(this)
  }

  #weigh(used: ProcessUse): void {
    const idle = used.idle - this.#last.idle
    const time = idle + used.active - this.#last.active
    // On a busy machine the event loop also waits while files are read for an import that goes on.
    if (used.cpu - this.#last.cpu < stillShare * time) this.#idle += idle
    this.#last = used
    const memory = Math.round(used.memory / 2 ** 20)
    const limit = this.#options.limits.memory + besideHeap
    if (memory > limit) this.#stop(faultOfMemory(this.#name, memory, limit))
  }

  get #name(): string {
    return this.#options.agent.name
  }

  #stop(fault: string): void {
    if (this.#fault === undefined) this.#options.onFault(fault)
    this.#fault ??= fault
    this.#kill()
  }

  /** Ends the process, and those that it started. */
  #kill(): void {
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, 'SIGKILL')
    } catch {
      // There is no such group: it has ended, or this system has no groups.
    }
    this.#child.kill('SIGKILL')
  }

  async #end(): Promise<void> {
    const why = await exitOf(this.#child, this.#name, this.#options.limits.memory)
    if (this.#fault === undefined && this.#runs.size + this.#questions.size > 0) this.#options.onFault(why)
    this.#fault ??= why
    this.#ended = true
    this.#kill()
    clearInterval(this.#watch)
    this.#options.onWork(this)
    const problem: Problem = { code: 'agent-error', message: this.#fault }
    for (const call of [...this.#runs.keys()]) this.#over(call, problem)
    for (const { reject } of this.#questions.values()) reject(new MillraceError('unavailable', problem.message))
    this.#questions.clear()
  }
}

/** Resolves when the process has ended and everything that it sent has been read. */
function exitOf(child: ChildProcess, agent: string, memory: number): Promise<string> {
  const left = child.connected ? new Promise((resolve) => child.once('disconnect', resolve)) : undefined
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(faultOfStart(agent, error.message)))
    child.once(
      'exit',
      (code, signal) => void Promise.resolve(left).then(() => resolve(faultOfExit(agent, code, signal, memory))),
    )
  })
}
