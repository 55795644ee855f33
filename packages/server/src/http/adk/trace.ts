import { type AdkEvent, isPartial, type Recorded, type SessionInfo } from '@millrace/core'

/** A span as adk-web validates it. One invalid span makes adk-web show none, so every field is always present. */
export interface AdkSpan {
  readonly name: string
  readonly span_id: string
  readonly trace_id: string
  /** Nanoseconds. */
  readonly start_time: number
  readonly end_time: number
  readonly parent_span_id: string | null
  readonly attributes: Readonly<Record<string, string | number | boolean | readonly string[]>>
}

interface Open {
  readonly id: string
  readonly start: number
  readonly parent: string | null
}

const nano = (ms: number): number => ms * 1_000_000

/** The runs of a session as OpenTelemetry spans: run, agents, model calls and tools, derived from the log. */
export function spansOf(session: SessionInfo, rows: readonly Recorded[]): readonly AdkSpan[] {
  const spans: AdkSpan[] = []
  const nodes = new Map<string, Open & { readonly agent: string; last: number }>()
  const calls = new Map<string, Open & { readonly name: string; readonly event: string }>()
  let run: (Open & { readonly invocation: string }) | undefined
  const put = (name: string, open: Open, end: number, attributes: AdkSpan['attributes']): void => {
    spans.push({
      name,
      span_id: open.id,
      trace_id: run?.invocation ?? session.id,
      start_time: nano(open.start),
      end_time: nano(Math.max(end, open.start)),
      parent_span_id: open.parent,
      attributes,
    })
  }
  for (const { seq, at, run: invocation, event } of rows) {
    switch (event.kind) {
      case 'run.started':
        run = { id: `run-${seq}`, start: at, parent: null, invocation }
        break
      case 'node.started': {
        const parent = nodes.get(event.parent ?? '')?.id ?? run?.id ?? null
        nodes.set(event.node, { id: `node-${seq}`, start: at, parent, agent: event.agent, last: at })
        break
      }
      case 'node.finished': {
        const open = nodes.get(event.node)
        if (open !== undefined)
          put(`invoke_agent ${open.agent}`, open, at, agentAttributes(session, invocation, open.agent))
        nodes.delete(event.node)
        break
      }
      case 'agent': {
        const { event: said } = event
        const node = nodes.get(event.node ?? '')
        const owner = node?.id ?? run?.id ?? null
        if (isPartial(said)) break
        const parts = said.content?.parts ?? []
        for (const { functionResponse } of parts) {
          const open = calls.get(functionResponse?.id ?? '')
          if (open === undefined) continue
          put(`execute_tool ${open.name}`, open, at, {
            'gen_ai.operation.name': 'execute_tool',
            'gen_ai.tool.name': open.name,
            'gcp.vertex.agent.event_id': said.id,
          })
          calls.delete(functionResponse?.id ?? '')
        }
        if (
          said.content?.role === 'model' ||
          (parts.length > 0 && said.author !== 'user' && parts.every((part) => part.functionResponse === undefined))
        ) {
          const start = node?.last ?? run?.start ?? at
          put(
            `generate_content ${said.modelVersion ?? 'model'}`,
            { id: `model-${seq}`, start, parent: owner },
            at,
            modelAttributes(said, invocation),
          )
        }
        for (const { functionCall } of parts) {
          if (functionCall?.id !== undefined)
            calls.set(functionCall.id, {
              id: `tool-${seq}-${functionCall.id}`,
              start: at,
              parent: owner,
              name: functionCall.name,
              event: said.id,
            })
        }
        if (node !== undefined) node.last = at
        break
      }
      case 'run.finished':
        if (run !== undefined)
          put('invocation', run, at, {
            'gcp.vertex.agent.invocation_id': invocation,
            'millrace.outcome': event.outcome,
          })
        run = undefined
        break
      default:
    }
  }
  return spans
}

function agentAttributes(session: SessionInfo, run: string, agent: string): AdkSpan['attributes'] {
  return {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.conversation.id': session.id,
    'gen_ai.agent.name': agent,
    'gcp.vertex.agent.invocation_id': run,
  }
}

function modelAttributes({ id, author, invocationId, usageMetadata }: AdkEvent, run: string): AdkSpan['attributes'] {
  const { promptTokenCount: input, candidatesTokenCount: output } = usageMetadata ?? {}
  return {
    'gen_ai.operation.name': 'generate_content',
    'gen_ai.agent.name': author,
    'gcp.vertex.agent.event_id': id,
    'gcp.vertex.agent.invocation_id': invocationId === '' ? run : invocationId,
    ...(typeof input === 'number' ? { 'gen_ai.usage.input_tokens': input } : {}),
    ...(typeof output === 'number' ? { 'gen_ai.usage.output_tokens': output } : {}),
  }
}
