import {
  defined,
  type EventLog,
  isPartial,
  isToolError,
  type ModelFinished,
  type ModelStarted,
  type Recorded,
} from '@millrace/core'
import { idInKey } from '@millrace/core/store'
import { type Context, type Span, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'

/** Makes OpenTelemetry spans of runs, nodes, model calls and tools from the log as it grows, without contents. */
export interface RunTracer {
  /** Makes spans of a run until it ends, from the rows after `after`. */
  follow(session: string, run: string, after: number): void
  /** Called after the runs have ended. Reads the rest of their rows into spans first. */
  close(): Promise<void>
}

/** How long `close` waits for the ends of runs, in ms. */
const patience = 1_000

export function runTracer(log: EventLog, tracer: Tracer, root: Context): RunTracer {
  const stop = new AbortController()
  const follow = async (session: string, run: string, after: number): Promise<void> => {
    let spans: RunSpans | undefined
    try {
      for await (const rows of log.follow(session, { after, signal: stop.signal })) {
        for (const row of rows) {
          if (row.run !== run) continue
          spans ??= new RunSpans(tracer, root, session, row)
          if (spans.take(row)) return
        }
      }
    } finally {
      spans?.end()
    }
  }
  const followed = new Set<Promise<void>>()
  return {
    follow(session, run, after) {
      const done: Promise<void> = follow(session, run, after)
        .catch(() => undefined)
        .finally(() => followed.delete(done))
      followed.add(done)
    },
    async close() {
      // A run that another process took over may never end in this one.
      const timer = setTimeout(() => stop.abort(), patience)
      await Promise.all(followed)
      clearTimeout(timer)
    },
  }
}

class RunSpans {
  readonly #tracer: Tracer
  readonly #run: Span
  readonly #within: Context
  readonly #open = new Map<string, { readonly span: Span; readonly within: Context; last: number }>()
  /** Function calls whose tools have not ended. */
  readonly #calls = new Map<string, { readonly name: string; readonly at: number; readonly within: Context }>()
  readonly #models = new Map<string, { readonly span: Span; readonly at: number }>()
  /** Whether the log has records of model calls: then no span is made of a message. */
  #isRecorded = false
  #over = false
  readonly #startedAt: number

  constructor(tracer: Tracer, root: Context, session: string, { at, run, event }: Recorded) {
    this.#tracer = tracer
    this.#startedAt = at
    const attributes = {
      'gen_ai.conversation.id': idInKey(session),
      'millrace.run.id': run,
      ...(event.kind === 'run.started' ? { 'gen_ai.agent.name': event.agent } : {}),
    }
    this.#run = tracer.startSpan('run', { startTime: at, attributes }, root)
    this.#within = trace.setSpan(root, this.#run)
  }

  /** Adds a row; true when it ended the run. */
  take({ at, event }: Recorded): boolean {
    switch (event.kind) {
      case 'node.started': {
        const parent = this.#open.get(event.parent ?? '')?.within ?? this.#within
        const attributes = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': event.agent }
        const span = this.#tracer.startSpan(`invoke_agent ${event.agent}`, { startTime: at, attributes }, parent)
        this.#open.set(event.node, { span, within: trace.setSpan(parent, span), last: at })
        return false
      }
      case 'node.finished': {
        const node = this.#open.get(event.node)
        if (event.status === 'error')
          node?.span.setStatus({ code: SpanStatusCode.ERROR, message: event.error?.code ?? 'error' })
        node?.span.end(at)
        this.#open.delete(event.node)
        return false
      }
      case 'model.started':
        this.#modelStarted(at, event)
        return false
      case 'model.finished':
        this.#modelFinished(at, event)
        return false
      case 'tool.finished':
        this.#toolEnded(event.call, at, event.status === 'error', event.duration)
        return false
      case 'agent':
        if (!isPartial(event.event)) this.#message(at, event)
        return false
      case 'run.finished':
        this.#run.setAttribute('millrace.outcome', event.outcome)
        if (event.outcome === 'failed')
          this.#run.setStatus({ code: SpanStatusCode.ERROR, message: event.error?.code ?? 'failed' })
        this.#run.end(at)
        this.#over = true
        return true
      default:
        return false
    }
  }

  #modelStarted(at: number, { call, agent, model, parameters = {}, node, waited }: ModelStarted): void {
    this.#isRecorded = true
    const startTime = Math.max(this.#startedAt, at - Math.max(0, waited ?? 0))
    const {
      temperature,
      topP,
      top_p: otherTopP = topP,
      maxOutputTokens,
      max_tokens: most = maxOutputTokens,
    } = parameters
    const attributes = {
      'gen_ai.operation.name': 'generate_content',
      'gen_ai.agent.name': agent,
      ...defined({ [`gen_ai.${waited === undefined ? 'request' : 'response'}.model`]: model }),
      ...numbers({
        'gen_ai.request.temperature': temperature,
        'gen_ai.request.top_p': otherTopP,
        'gen_ai.request.max_tokens': most,
      }),
    }
    const within = this.#open.get(node ?? '')?.within ?? this.#within
    this.#models.set(call, {
      span: this.#tracer.startSpan('generate_content', { startTime, attributes }, within),
      at: startTime,
    })
  }

  #modelFinished(at: number, event: ModelFinished): void {
    const { call, duration, firstToken, finishReason, model: named, usage, cost, error } = event
    const model = this.#models.get(call)
    if (model === undefined) return
    this.#models.delete(call)
    const { span } = model
    span.setAttributes({
      ...numbers({
        'gen_ai.usage.input_tokens': usage?.inputTokens,
        'gen_ai.usage.output_tokens': usage?.outputTokens,
        'gen_ai.usage.cache_read.input_tokens': usage?.cachedInputTokens,
        'gen_ai.usage.reasoning.output_tokens': usage?.reasoningTokens,
        'millrace.first_token_ms': firstToken,
        'millrace.duration_ms': duration,
        'millrace.cost': cost?.amount,
      }),
      ...defined({
        'gen_ai.response.finish_reasons': finishReason === undefined ? undefined : [finishReason],
        'gen_ai.response.model': named,
        'millrace.cost.currency': cost?.currency,
        'error.type': error?.code,
      }),
    })
    if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error.code })
    span.end(Math.min(at, model.at + (duration ?? at)))
  }

  /** A tool of an engine that measures it began `duration` ago; any other when it was called. */
  #toolEnded(call: string, at: number, failed: boolean, duration?: number): void {
    const called = this.#calls.get(call)
    if (called === undefined) return
    this.#calls.delete(call)
    const { name, within } = called
    const startTime = duration === undefined ? called.at : Math.max(called.at, at - duration)
    const attributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': name,
      'gen_ai.tool.call.id': call,
    }
    const span = this.#tracer.startSpan(`execute_tool ${name}`, { startTime, attributes }, within)
    if (failed) span.setStatus({ code: SpanStatusCode.ERROR })
    span.end(at)
  }

  /** Ends the spans that are still open, also when the end of the run was not read. */
  end(): void {
    for (const { span } of this.#open.values()) span.end()
    for (const { span } of this.#models.values()) span.end()
    if (!this.#over) this.#run.end()
  }

  #message(at: number, { event, node: id }: Extract<Recorded['event'], { kind: 'agent' }>): void {
    const node = this.#open.get(id ?? '')
    const within = node?.within ?? this.#within
    const parts = event.content?.parts ?? []
    for (const { functionResponse } of parts) {
      if (functionResponse?.id === undefined) continue
      this.#toolEnded(functionResponse.id, at, isToolError(functionResponse.response?.error))
    }
    if (event.content?.role === 'model' && !this.#isRecorded) {
      const { promptTokenCount: input, candidatesTokenCount: output } = event.usageMetadata ?? {}
      const attributes = {
        'gen_ai.operation.name': 'generate_content',
        'gen_ai.agent.name': event.author,
        ...defined({
          'gen_ai.response.model': event.modelVersion,
          'gen_ai.usage.input_tokens': input,
          'gen_ai.usage.output_tokens': output,
        }),
      }
      this.#tracer.startSpan('generate_content', { startTime: node?.last ?? at, attributes }, within).end(at)
    }
    for (const { functionCall } of parts) {
      if (functionCall?.id === undefined) continue
      this.#calls.set(functionCall.id, { name: functionCall.name, at, within })
    }
    if (node !== undefined) node.last = at
  }
}

function numbers(values: Readonly<Record<string, unknown>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  )
}
