import { type AIMessage, type BaseMessage, HumanMessage, type ToolMessage } from '@langchain/core/messages'
import { Command, INTERRUPT } from '@langchain/langgraph'
import { isJsonObject, type Json, type JsonObject } from '@millrace/core'
import type { Turn } from './session.ts'
import { answered, called, type Spoken, said } from './spoken.ts'

/** What the framework itself makes of a conversation. */
export interface BareRun {
  readonly state: JsonObject
  readonly spoken: readonly Spoken[]
  /** The values of the questions, in the order in which they were asked. */
  readonly questions: readonly unknown[]
  /** What nodes wrote to the custom stream. */
  readonly custom: readonly unknown[]
}

/** The part of a compiled graph that a bare run needs. */
export interface BareGraph {
  readonly checkpointer?: unknown
  stream(input: unknown, config: object): Promise<AsyncIterable<unknown>>
  getState(config: object): Promise<Snapshot>
  getStateHistory(config: object): AsyncIterable<Snapshot>
  updateState(config: object, values: object): Promise<object>
}
export interface Snapshot {
  readonly values: Readonly<Record<string, unknown>>
  readonly tasks: readonly { readonly interrupts: readonly { readonly id?: string; readonly value?: unknown }[] }[]
  readonly next: readonly string[]
  readonly config: object
}

/** Runs the turns on the graph itself, without a server, in one thread. */
export async function bareRun(graph: BareGraph, turns: readonly Turn[]): Promise<BareRun> {
  const config = { configurable: { thread_id: crypto.randomUUID() } }
  const heard = new Heard()
  for (const turn of turns) await take(graph, config, turn, heard)
  return heard.result()
}

/** One turn on a thread, from the checkpoint that the config names, else from its newest. */
export async function take(graph: BareGraph, config: object, turn: Turn, heard: Heard): Promise<void> {
  const input = 'say' in turn ? { messages: [new HumanMessage(turn.say)] } : await answerOf(graph, config, turn.answer)
  const modes = ['updates', 'values', 'custom']
  for await (const chunk of await graph.stream(input, { ...config, streamMode: modes, subgraphs: true })) {
    const [namespace, mode, payload] = chunk as [readonly string[], string, Record<string, unknown>]
    if (mode === 'values' && namespace.length === 0) heard.values = payload
    if (mode === 'custom') heard.custom.push(payload)
    if (mode !== 'updates') continue
    for (const [node, update] of Object.entries(payload)) {
      if (node !== INTERRUPT) for (const each of [update].flat()) heard.update(node, each)
    }
  }
  const { tasks, next } = hasSaver(graph) ? await graph.getState(config) : { tasks: [], next: [] }
  const asked = tasks.flatMap(({ interrupts }) => interrupts)
  for (const { value } of asked) heard.questions.push(value)
  // A breakpoint has no question of its own: the nodes that come next are what a person is asked about.
  if (asked.length === 0 && next.length > 0) heard.questions.push({ next: [...next] })
}

const hasSaver = ({ checkpointer }: BareGraph): boolean => checkpointer !== undefined && checkpointer !== false

/** The answers to the questions of the graph; null continues a graph that stops at a breakpoint. */
async function answerOf(graph: BareGraph, config: object, answer: Json): Promise<Command | null> {
  const { tasks } = await graph.getState(config)
  const ids = tasks.flatMap(({ interrupts }) => interrupts.flatMap(({ id }) => id ?? []))
  return ids.length === 0 ? null : new Command({ resume: Object.fromEntries(ids.map((id) => [id, answer])) })
}

/** Gathers what a bare graph says. */
export class Heard {
  values: Readonly<Record<string, unknown>> = {}
  readonly custom: unknown[] = []
  readonly questions: unknown[] = []
  readonly #messages: { readonly author: string; readonly message: BaseMessage }[] = []

  update(node: string, update: unknown): void {
    const messages = isObjectWith(update, 'messages') ? [update.messages ?? []].flat() : []
    for (const message of messages as BaseMessage[]) this.#messages.push({ author: node, message })
  }

  result(): BareRun {
    const { custom, questions } = this
    return { state: plainState(this.values), spoken: this.#spoken(), questions, custom }
  }

  /** Each message once, by the node that gave it first; the answer of a tool follows its call. */
  #spoken(): readonly Spoken[] {
    const seen = new Set<string>()
    const calls = new Set<string>()
    const lines: Spoken[] = []
    const answers = new Map(
      this.#messages.flatMap(({ message }) =>
        message.getType() === 'tool' ? [[(message as ToolMessage).tool_call_id, message as ToolMessage]] : [],
      ),
    )
    for (const { author, message } of this.#messages) {
      if (message.getType() !== 'ai' || (message.id !== undefined && seen.has(message.id))) continue
      if (message.id !== undefined) seen.add(message.id)
      if (message.text !== '') lines.push(said(author, message.text))
      for (const { id = '', name, args } of (message as AIMessage).tool_calls ?? []) {
        if (calls.has(id)) continue
        calls.add(id)
        lines.push(called(author, name, args as JsonObject))
        const answer = answers.get(id)
        if (answer !== undefined) lines.push(answered(name, responseOf(answer)))
      }
    }
    return lines
  }
}

function responseOf({ content, status }: ToolMessage): JsonObject {
  const text = String(content)
  // The words around an error are for the model; people see the error itself.
  if (status === 'error') return { error: text.replace(/^Error: ([\s\S]*)\n Please fix your mistakes\.$/, '$1') }
  try {
    const value = JSON.parse(text) as Json
    return isJsonObject(value) ? value : { result: value }
  } catch {
    return { result: text }
  }
}

/** A state to compare: messages by what they say, without the ids that each run makes up. */
export function plainState(values: Readonly<Record<string, unknown>>): JsonObject {
  const { messages, ...rest } = values
  const list = Array.isArray(messages) ? { messages: messages.map(plainMessage) } : {}
  return JSON.parse(JSON.stringify({ ...rest, ...list })) as JsonObject
}

function plainMessage(message: BaseMessage | Record<string, unknown>): unknown {
  const type = typeof message.getType === 'function' ? message.getType() : message.type
  const { content, tool_calls: calls, tool_call_id: call } = message as Record<string, unknown>
  const listed =
    Array.isArray(calls) && calls.length > 0 ? { calls: calls.map(({ id, name, args }) => [id, name, args]) } : {}
  return { type, content, ...listed, ...(call === undefined ? {} : { call }) }
}

function isObjectWith<K extends string>(value: unknown, key: K): value is Record<K, unknown> {
  return typeof value === 'object' && value !== null && key in value
}
