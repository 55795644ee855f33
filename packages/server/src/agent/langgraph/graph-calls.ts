import { defined, isObject, type Json, type JsonObject, type NodeId, type RunEvent, usageOf } from '@millrace/core'
import type { CallRecorder, OpenModelCall } from '../call-recorder.ts'
import type { ChangedPrompt } from '../changed-prompt.ts'
import { langChainCall } from '../langchain-call.ts'
import { messageParts } from '../langchain-message.ts'
import { langChainRequest } from '../langchain-request.ts'
import type { RequestWords } from '../request-writer.ts'
import type { GraphNode } from './graph-nodes.ts'
import type { GraphPrompt } from './graph-prompt.ts'
import type { StreamEvent } from './langgraph-agent.ts'
import { toJson } from './state-json.ts'

interface RunningTool {
  readonly call: string
  readonly since: number
}

/** The records of a graph's model and tool calls, by the LangChain run of each. */
export class GraphCalls {
  readonly #recorder: CallRecorder
  readonly #now: () => number
  readonly #prompt: GraphPrompt
  readonly #parameters = new Map<string, Readonly<Record<string, unknown>>>()
  readonly #open = new Map<string, { readonly call: OpenModelCall; readonly node: NodeId }>()
  /** Why models stopped, where their message does not say it. */
  readonly #reasons = new Map<string, string>()
  readonly #tools = new Map<string, RunningTool>()
  /** The call of a model that a tool runs for, by the LangChain run of the tool. */
  readonly #called = new Map<string, string>()

  constructor(recorder: CallRecorder, now: () => number, prompt: GraphPrompt) {
    this.#prompt = prompt
    this.#recorder = recorder
    this.#now = now
  }

  /** A handler of LangChain: only handlers are given the parameters and the tools of a call, and the call of a tool. */
  readonly handler = {
    name: 'millrace',
    awaitHandlers: true,
    handleChatModelStart: (
      _model: unknown,
      _messages: unknown,
      run: string,
      _parent?: string,
      more?: unknown,
      _tags?: unknown,
      metadata?: unknown,
    ): void => {
      if (isObject(metadata)) this.#prompt.begin(run, metadata.langgraph_node)
      const given = isObject(more) ? more.invocation_params : undefined
      if (isObject(given)) this.#parameters.set(run, given)
    },
    handleLLMEnd: (output: unknown, run: string): void => {
      const reason = finishReasonIn(output)
      if (reason !== undefined) this.#reasons.set(run, reason)
    },
    handleToolStart: (
      _tool: unknown,
      _input: unknown,
      run: string,
      _parent?: string,
      _tags?: unknown,
      _metadata?: unknown,
      _name?: unknown,
      call?: unknown,
    ): void => {
      if (typeof call === 'string') this.#called.set(run, call)
    },
  }

  note(event: RunEvent): void {
    this.#recorder.note(event)
  }

  *modelStarted(event: StreamEvent, node: GraphNode): Generator<RunEvent> {
    const given = this.#parameters.get(event.run_id) ?? {}
    this.#parameters.delete(event.run_id)
    const { metadata = {} } = event
    const model = [given.model, given.model_name, given.modelName, metadata.ls_model_name, event.name].find(
      (name) => typeof name === 'string' && name !== '',
    )
    const tools = [given.tools, given.functions].find(Array.isArray) ?? []
    const call = this.#recorder.begin({
      agent: node.name,
      model: String(model),
      node: node.node === '' ? undefined : node.node,
      tools: tools.length,
      ...defined({ parameters: parametersOf(given, metadata) }),
      words: () => ({
        ...toldIn(event.data?.input, tools),
        ...changedWords(this.#prompt.of(event.run_id)),
      }),
    })
    this.#open.set(event.run_id, { call, node: node.node })
    yield call.started
  }

  heard({ run_id }: StreamEvent): void {
    this.#open.get(run_id)?.call.heard()
  }

  /** `message` is the one that the log has of the answer. */
  *modelEnded({ run_id, data, metadata }: StreamEvent, message: string | undefined): Generator<RunEvent> {
    const open = this.#open.get(run_id)
    const reason = this.#reasons.get(run_id)
    this.#reasons.delete(run_id)
    if (open === undefined) return
    this.#open.delete(run_id)
    this.#prompt.check(run_id)
    open.call.heard()
    const output = data?.output
    const { usage, finishReason = reason } = langChainCall(output, metadata)
    const { parts } = messageParts(output)
    open.call.answered(message, {
      usage: usageOf(usage),
      finishReason,
      response: message === undefined && parts.length > 0 ? ({ role: 'model', parts } as unknown as Json) : undefined,
    })
    yield open.call.finish()
  }

  /** Model calls that have no end, because they threw: those of one node, or all. */
  *cut(message: string, node?: NodeId): Generator<RunEvent> {
    for (const [run, open] of [...this.#open]) {
      if (node !== undefined && open.node !== node) continue
      this.#open.delete(run)
      yield open.call.finish({ code: 'model-error', message })
    }
  }

  /** The call that this tool runs for, where LangChain knows it. */
  calledBy(run: string): string | undefined {
    const call = this.#called.get(run)
    this.#called.delete(run)
    return call
  }

  toolStarted(run: string, call: string): void {
    this.#tools.set(run, { call, since: this.#now() })
  }

  *toolEnded({ run_id, name }: StreamEvent, failed: boolean, { node }: GraphNode): Generator<RunEvent> {
    const tool = this.#tools.get(run_id)
    if (tool === undefined) return
    this.#tools.delete(run_id)
    yield this.#recorder.tool(tool.call, name, tool.since, failed, node === '' ? undefined : node)
  }
}

/** Of a streamed answer, LangChain tells only handlers why it ended. */
function finishReasonIn(output: unknown): string | undefined {
  const generations: unknown = isObject(output) ? output.generations : undefined
  const [first] = Array.isArray(generations) ? (generations.flat() as readonly unknown[]) : []
  const info = isObject(first) ? first.generationInfo : undefined
  const reason = isObject(info) ? (info.finish_reason ?? info.stop_reason ?? info.finishReason) : undefined
  return typeof reason === 'string' ? reason : undefined
}

function changedWords(changed: ChangedPrompt | undefined): Partial<RequestWords> {
  return defined({ system: changed?.system, contents: changed?.contents })
}

/** The settings of a call that are plain values: temperature, the limit of tokens. */
function parametersOf(
  given: Readonly<Record<string, unknown>>,
  metadata: Readonly<Record<string, unknown>>,
): JsonObject | undefined {
  const usual = { temperature: metadata.ls_temperature, max_tokens: metadata.ls_max_tokens }
  const plain = Object.entries({ ...usual, ...given }).filter(
    ([key, value]) => !/^model(_?name)?$/i.test(key) && ['number', 'boolean', 'string'].includes(typeof value),
  )
  return plain.length === 0 ? undefined : (Object.fromEntries(plain) as JsonObject)
}

/** The request of a model call, with its tools. */
export function toldIn(input: unknown, tools: readonly unknown[]): RequestWords {
  const declared = tools.length === 0 ? undefined : toJson(tools)
  return { ...langChainRequest(input), ...defined({ tools: declared }) }
}
