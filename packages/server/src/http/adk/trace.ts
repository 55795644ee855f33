import {
  type AdkEvent,
  type Call,
  type Calls,
  callsView,
  defined,
  fold,
  isPartial,
  modelRequestOf,
  type Recorded,
  type SessionInfo,
} from '@millrace/core'
import { invocations } from './invocations.ts'

/** A span as adk-web validates it. One invalid span makes adk-web show none, so every field is always present. */
export interface AdkSpan {
  readonly name: string
  readonly span_id: string
  readonly trace_id: string
  /** Nanoseconds. */
  readonly start_time: number
  readonly end_time: number
  readonly parent_span_id: string | null
  readonly attributes: Attributes
}
type Attributes = Readonly<Record<string, string | number | boolean | readonly string[]>>

interface Open {
  readonly id: string
  readonly start: number
  readonly parent: string | null
}

const nano = (ms: number): number => ms * 1_000_000

/** The runs of a session as OpenTelemetry spans: run, agents, model calls and tools, derived from the log. */
export function spansOf(session: SessionInfo, rows: readonly Recorded[]): readonly AdkSpan[] {
  const trace = new Trace(session, rows)
  for (const row of rows) trace.take(row)
  return trace.close()
}

class Trace {
  readonly #session: SessionInfo
  readonly #invocationOf: (run: string) => string
  readonly #calls: Calls
  /** The recorded model calls, by run and message. */
  readonly #modelCalls = new Map<string, Call>()
  readonly #spans: AdkSpan[] = []
  readonly #nodes = new Map<string, Open & { readonly agent: string; last: number }>()
  readonly #tools = new Map<string, Open & { readonly name: string; readonly args: unknown }>()
  #run: (Open & { readonly run: string }) | undefined
  #last = 0

  constructor(session: SessionInfo, rows: readonly Recorded[]) {
    this.#session = session
    this.#calls = fold(callsView, rows)
    for (const call of this.#calls.calls)
      for (const message of call.messages ?? []) this.#modelCalls.set(`${call.run}/${message}`, call)
    this.#invocationOf = invocations(rows)
  }

  take({ seq, at, run, event }: Recorded): void {
    this.#last = at
    switch (event.kind) {
      case 'run.started':
        this.#run = { id: `run-${seq}`, start: at, parent: null, run }
        return
      case 'node.started': {
        const parent = this.#nodes.get(event.parent ?? '')?.id ?? this.#run?.id ?? null
        this.#nodes.set(event.node, { id: `node-${seq}`, start: at, parent, agent: event.agent, last: at })
        return
      }
      case 'node.finished':
        this.#endNode(event.node, at)
        return
      case 'agent':
        if (!isPartial(event.event))
          this.#said({ seq, at, run, event: event.event, message: event.message, node: event.node })
        return
      case 'run.finished':
        this.#endRun(at, { 'millrace.outcome': event.outcome })
        return
      default:
    }
  }

  /** Spans of an active run end with the last row, so that no span has a parent that is missing. */
  close(): readonly AdkSpan[] {
    for (const node of [...this.#nodes.keys()]) this.#endNode(node, this.#last)
    this.#endRun(this.#last, {})
    return this.#spans
  }

  #put(name: string, open: Open, end: number, attributes: Attributes): void {
    const run = this.#run?.run ?? ''
    this.#spans.push({
      name,
      span_id: open.id,
      trace_id: run === '' ? this.#session.id : run,
      start_time: nano(open.start),
      end_time: nano(Math.max(end, open.start)),
      parent_span_id: open.parent,
      attributes: {
        ...attributes,
        'gcp.vertex.agent.invocation_id': this.#invocationOf(run),
        'gcp.vertex.agent.session_id': this.#session.id,
      },
    })
  }

  #endNode(node: string, at: number): void {
    const open = this.#nodes.get(node)
    this.#nodes.delete(node)
    if (open === undefined) return
    this.#put(`invoke_agent ${open.agent}`, open, at, {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.conversation.id': this.#session.id,
      'gen_ai.agent.name': open.agent,
    })
  }

  #endRun(at: number, attributes: Attributes): void {
    if (this.#run !== undefined) this.#put('invocation', this.#run, at, attributes)
    this.#run = undefined
  }

  #said({ seq, at, run, event: said, message, node: of }: Said): void {
    const node = this.#nodes.get(of ?? '')
    const parent = node?.id ?? this.#run?.id ?? null
    const parts = said.content?.parts ?? []
    for (const { functionResponse } of parts) {
      if (functionResponse !== undefined) this.#answered(at, run, said.id, functionResponse)
    }
    if (isOfModel(said)) {
      const call = this.#modelCalls.get(`${run}/${message}`)
      const start = call?.startedAt ?? node?.last ?? this.#run?.start ?? at
      this.#put(
        'call_llm',
        { id: `model-${seq}`, start, parent },
        call?.endedAt ?? at,
        this.#modelAttributes(said, call),
      )
    }
    for (const { functionCall } of parts) {
      if (functionCall?.id === undefined) continue
      const { id, name, args } = functionCall
      this.#tools.set(id, { id: `tool-${seq}-${id}`, start: at, parent, name, args })
    }
    if (node !== undefined) node.last = at
  }

  #answered(
    at: number,
    run: string,
    event: string,
    { id = '', response }: { readonly id?: string; readonly response?: unknown },
  ): void {
    const open = this.#tools.get(id)
    this.#tools.delete(id)
    if (open === undefined) return
    const ran = this.#calls.calls.at(this.#calls.index.places.get(`${run}/${id}`) ?? -1)
    this.#put(`execute_tool ${open.name}`, { ...open, start: ran?.startedAt ?? open.start }, ran?.endedAt ?? at, {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': open.name,
      'gen_ai.tool.call.id': id,
      'gcp.vertex.agent.event_id': event,
      'gcp.vertex.agent.tool_call_args': JSON.stringify(open.args ?? {}),
      'gcp.vertex.agent.tool_response': JSON.stringify(response ?? {}),
    })
  }

  /** The request as ADK's own traces show it. */
  #requestOf({ key, name, parameters }: Call): string | undefined {
    const request = modelRequestOf(this.#calls, key)
    if (request === undefined) return undefined
    const { system, contents, tools } = request
    const config = { ...parameters, ...defined({ systemInstruction: system, tools }) }
    return JSON.stringify({ model: name, contents, config })
  }

  #modelAttributes(said: AdkEvent, call: Call | undefined): Attributes {
    const { id, author, usageMetadata, modelVersion } = said
    const { promptTokenCount: input, candidatesTokenCount: output } = usageMetadata ?? {}
    const request = call === undefined ? undefined : this.#requestOf(call)
    const model = modelVersion ?? call?.name
    return {
      'gen_ai.agent.name': author,
      'gcp.vertex.agent.event_id': id,
      'gcp.vertex.agent.llm_response': responseOf(said),
      ...(request === undefined ? {} : { 'gcp.vertex.agent.llm_request': request }),
      ...(typeof model === 'string' ? { 'gen_ai.request.model': model } : {}),
      ...(typeof input === 'number' ? { 'gen_ai.usage.input_tokens': input } : {}),
      ...(typeof output === 'number' ? { 'gen_ai.usage.output_tokens': output } : {}),
    }
  }
}

interface Said {
  readonly seq: number
  readonly at: number
  readonly run: string
  readonly event: AdkEvent
  readonly message: string
  readonly node: string | undefined
}

/** A model answered; the results of tools come from no model. */
function isOfModel({ author, content }: AdkEvent): boolean {
  const parts = content?.parts ?? []
  if (content?.role === 'model') return true
  return parts.length > 0 && author !== 'user' && parts.every(({ functionResponse }) => functionResponse === undefined)
}

/** The model's answer, as the event has it. */
function responseOf({ content, usageMetadata, finishReason, modelVersion, errorCode, errorMessage }: AdkEvent): string {
  return JSON.stringify({ modelVersion, content, usageMetadata, finishReason, errorCode, errorMessage })
}
