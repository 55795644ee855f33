import { defined, isObject, type JsonObject, type NodeId, type RunEvent, type RunInput, usageOf } from '@millrace/core'
import type { RunContext } from '../agent.ts'
import { CallRecorder, type OpenModelCall } from '../call-recorder.ts'
import { langChainCall } from '../langchain-call.ts'
import { langChainRequest } from '../langchain-request.ts'
import type { RemoteCalls } from './remote-calls.ts'

/** An event of LangChain's `streamEvents`, which LangGraph's AG-UI adapter also sends, as RAW. */
interface StreamEvent {
  readonly event: string
  readonly run_id: string
  readonly name?: unknown
  readonly data?: unknown
  readonly metadata?: unknown
}

/**
 * The model calls that an AG-UI server shows. AG-UI itself has only messages and does not say whether a model made one,
 * so a message alone is not recorded as a call. A server that also sends LangGraph's events shows which models it called,
 * when, with which messages and with how many tokens. It does not show their tools.
 */
export function agUiCalls(name: string, input: RunInput, context: RunContext): RemoteCalls {
  const recorder = new CallRecorder(context, input)
  const open = new Map<string, OpenModelCall>()
  /** The newest open node of each agent. */
  const nodes = new Map<string, NodeId>()
  const messages = new Set<string>()

  function* raw(event: StreamEvent): Generator<RunEvent> {
    const call = open.get(event.run_id)
    const metadata = isObject(event.metadata) ? event.metadata : {}
    const { chunk, output, input: request } = isObject(event.data) ? event.data : {}
    if (event.event === 'on_chat_model_start' && call === undefined) {
      const step = typeof metadata.langgraph_node === 'string' ? metadata.langgraph_node : undefined
      const model = [metadata.ls_model_name, event.name].find((each) => typeof each === 'string' && each !== '')
      const begun = recorder.begin({
        agent: step ?? name,
        node: step === undefined ? undefined : nodes.get(step),
        since: context.now(),
        ...defined({
          model: model as string | undefined,
          words: isObject(request) && Array.isArray(request.messages) ? () => langChainRequest(request) : undefined,
        }),
      })
      open.set(event.run_id, begun)
      yield begun.started
    } else if (event.event === 'on_chat_model_stream' && chunk !== undefined) call?.heard()
    else if (event.event === 'on_chat_model_end' && call !== undefined) {
      open.delete(event.run_id)
      call.heard('whole')
      const { usage, finishReason, model } = langChainCall(output)
      const id = [isObject(output) ? output.id : undefined, event.run_id].find(
        (each) => typeof each === 'string' && messages.has(each),
      )
      call.answered(id as string | undefined, { usage: usageOf(usage), finishReason, model })
      yield call.finish()
    }
  }

  return {
    *take(event) {
      if (event.kind === 'node.started') nodes.set(event.agent, event.node)
      if (event.kind === 'agent') messages.add(event.message)
      recorder.note(event)
      if (event.kind !== 'log' || !isStreamEvent(event.data)) {
        yield event
        return
      }
      yield context.recording?.prompts === true ? event : { ...event, data: withoutInput(event.data) }
      yield* raw(event.data)
    },
    *end(error) {
      for (const call of open.values()) yield call.finish(error)
    },
  }
}

/** Where requests are not recorded, the event that shows one must not hold it either. */
function withoutInput(event: StreamEvent): JsonObject {
  const { input: _input, ...data } = isObject(event.data) ? event.data : {}
  return { ...event, data } as JsonObject
}

function isStreamEvent(data: unknown): data is StreamEvent {
  return isObject(data) && typeof data.event === 'string' && typeof data.run_id === 'string'
}
