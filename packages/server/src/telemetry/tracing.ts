import { defined, type EventLog, isPartial, type Recorded } from '@millrace/core'
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
  readonly #calls = new Map<string, Span>()
  #over = false

  constructor(tracer: Tracer, root: Context, session: string, { at, run, event }: Recorded) {
    this.#tracer = tracer
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

  /** Ends the spans that are still open, also when the end of the run was not read. */
  end(): void {
    for (const { span } of this.#open.values()) span.end()
    for (const span of this.#calls.values()) span.end()
    if (!this.#over) this.#run.end()
  }

  #message(at: number, { event, node: id }: Extract<Recorded['event'], { kind: 'agent' }>): void {
    const node = this.#open.get(id ?? '')
    const within = node?.within ?? this.#within
    const parts = event.content?.parts ?? []
    for (const { functionResponse } of parts) {
      const key = functionResponse?.id ?? ''
      const failed = functionResponse?.response?.error !== undefined
      if (failed) this.#calls.get(key)?.setStatus({ code: SpanStatusCode.ERROR })
      this.#calls.get(key)?.end(at)
      this.#calls.delete(key)
    }
    if (event.content?.role === 'model') {
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
      const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': functionCall.name }
      this.#calls.set(
        functionCall.id,
        this.#tracer.startSpan(`execute_tool ${functionCall.name}`, { startTime: at, attributes }, within),
      )
    }
    if (node !== undefined) node.last = at
  }
}
