import {
  addUsage,
  type Cost,
  costOf,
  defined,
  type Json,
  type JsonObject,
  type ModelFinished,
  type ModelPrices,
  type ModelStarted,
  type NodeId,
  type Problem,
  type RunEvent,
  type RunInput,
  type ToolFinished,
  type Usage,
} from '@millrace/core'
import type { RunContext } from './agent.ts'
import { isLong, withoutSecrets } from './redact.ts'
import { type RequestWords, RequestWriter } from './request-writer.ts'

/** What the records of calls have, for one agent. */
export interface CallRecording {
  /** Whether requests are recorded: what the model was told, word for word. */
  readonly prompts: boolean
  /** What models cost here; list prices hold for those that are not named. */
  readonly prices?: ModelPrices
}

/** What is known of a model call as it begins. */
export interface NewCall {
  readonly agent: string
  readonly model?: string
  readonly node: NodeId | undefined
  readonly tools?: number
  readonly parameters?: JsonObject
  /** Called only where requests are recorded. */
  readonly words?: () => RequestWords
  /** For a call of another server: the time of the last sign before its answer began to arrive. */
  readonly since?: number
}

/** A model call that has not ended. */
export interface OpenModelCall {
  readonly started: ModelStarted
  /** The model has sent something: a token, or an answer that came whole from a server that streams none. */
  heard(what?: 'token' | 'whole'): void
  /** A whole event of the answer, with what the model reported. */
  answered(message: string | undefined, told: ToldByModel): void
  finish(error?: Problem): ModelFinished
}
export interface ToldByModel {
  readonly usage?: Usage | undefined
  readonly finishReason?: string | undefined
  /** The model, where only its answer names it. */
  readonly model?: string | undefined
  readonly error?: Problem | undefined
  /** The answer, where no message has it. */
  readonly response?: Json | undefined
}

/** Makes the records of one run's model and tool calls (SPEC 1.9). Every engine that sees its calls uses it. */
export class CallRecorder {
  readonly #context: RunContext
  readonly #recording: CallRecording
  readonly #requests: RequestWriter | undefined
  readonly #secrets: readonly string[]
  #calls: number | undefined
  #usage: Usage = {}

  constructor(context: RunContext, input: RunInput, secrets: readonly string[] = []) {
    this.#context = context
    // Servers that want no key are often given a word such as `none` or `x` as one: it is no secret.
    // The same list where possible, because clean values are remembered by list (`cleanValuesOf`).
    this.#secrets = secrets.every(isLong) ? secrets : secrets.filter(isLong)
    this.#recording = context.recording ?? { prompts: false }
    this.#requests = this.#recording.prompts ? new RequestWriter(context.history, input, this.#secrets) : undefined
  }

  /** What the finished calls have used. */
  get usage(): Usage {
    return this.#usage
  }

  /**
   * Takes every event that the run yields, in their order: a request names the messages that it repeats. `mayChange`: the
   * agent holds the content of the event and can change it, so that it is copied.
   */
  note(event: RunEvent, mayChange = true): void {
    this.#requests?.note(event, mayChange)
  }

  begin({ agent, model, node, tools, parameters, words, since }: NewCall): OpenModelCall {
    const { now, run } = this.#context
    this.#calls = (this.#calls ?? this.#earlier()) + 1
    const call = `c${this.#calls}`
    const request = words === undefined ? undefined : this.#request(`${run}/${call}`, agent, words)
    const begunAt = now()
    const waited = since === undefined ? undefined : Math.max(0, begunAt - since)
    const startedAt = begunAt - (waited ?? 0)
    let firstAt: number | undefined
    let lastAt: number | undefined
    let told: ToldByModel = {}
    let isAnswered = false
    const messages: string[] = []
    return {
      started: {
        kind: 'model.started',
        call,
        agent,
        ...defined({ model, tools, waited, parameters: this.#plain(parameters), request, node }),
      },
      heard(what = 'token') {
        lastAt = now()
        if (what === 'token') firstAt ??= lastAt
      },
      answered(message, more) {
        if (message !== undefined && !messages.includes(message)) messages.push(message)
        told = { ...told, ...defined(more) }
        isAnswered ||= more.error === undefined
      },
      finish: (failure) => {
        // What fails after the answer, such as a callback of the agent, is no failure of the model.
        const { usage, finishReason, error = isAnswered ? undefined : failure } = told
        const later = model === undefined ? told.model : undefined
        const cost = this.#costOf(model ?? later, usage)
        const response = this.#requests === undefined ? undefined : this.#plain(told.response)
        this.#usage = addUsage(this.#usage, { ...usage, modelCalls: 1 })
        return {
          kind: 'model.finished',
          call,
          status: error === undefined ? 'ok' : 'error',
          ...defined({ firstToken: firstAt === undefined ? undefined : firstAt - startedAt }),
          // A call that failed took until then, and not only until its last token.
          duration: (error === undefined ? (lastAt ?? now()) : now()) - startedAt,
          ...defined({ finishReason, model: later, usage, cost, response, error, node }),
          ...(messages.length === 0 ? {} : { messages }),
        }
      },
    }
  }

  /** The record of a tool that began at `since` and has now ended. */
  tool(call: string, name: string, since: number, failed: boolean, node: NodeId | undefined): ToolFinished {
    const status = failed ? 'error' : 'ok'
    const duration = Math.max(0, this.#context.now() - since)
    return { kind: 'tool.finished', call, name, status, duration, ...defined({ node }) }
  }

  /** The calls that this run made before it was resumed: their names are taken. */
  #earlier(): number {
    const { history, run, resumed } = this.#context
    return resumed ? history.filter((row) => row.run === run && row.event.kind === 'model.started').length : 0
  }

  #request(key: string, agent: string, words: () => RequestWords): ModelStarted['request'] {
    try {
      return this.#requests?.write(key, agent, words())
    } catch {
      return { contents: [], omitted: 'The request has values that are not JSON.' }
    }
  }

  #plain<J extends Json>(value: J | undefined): J | undefined {
    return value === undefined ? undefined : (withoutSecrets(JSON.stringify(value), this.#secrets) as J)
  }

  /** A model that costs nothing has no cost in the log. */
  #costOf(model: string | undefined, usage: Usage | undefined): Cost | undefined {
    const cost = model === undefined || usage === undefined ? undefined : costOf(model, usage, this.#recording.prices)
    return cost?.amount === 0 ? undefined : cost
  }
}
