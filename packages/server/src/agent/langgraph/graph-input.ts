import { isDeepStrictEqual } from 'node:util'
import type { MessageContent } from '@langchain/core/messages'
import {
  applyState,
  type InputMessage,
  isObject,
  type Json,
  type JsonObject,
  MillraceError,
  type ResumeAnswer,
  type RunInput,
} from '@millrace/core'
import type { RunContext } from '../agent.ts'
import { messageParts } from '../langchain-message.ts'
import { ownCheckpoint } from './checkpoint.ts'
import { breakpointOf, graphIdOf, openQuestions } from './graph-interrupts.ts'
import type { CompiledGraph, Snapshot } from './langgraph-agent.ts'
import { messageContent } from './message-content.ts'
import { hasBegunIn } from './own-saver.ts'
import { toJson } from './state-json.ts'
import { usedAnswers } from './used-answers.ts'

/** New messages, or answers to interrupts, or nothing after a crash: LangGraph then continues from the checkpoint. */
export async function graphInput(
  graph: CompiledGraph,
  input: RunInput,
  context: RunContext,
  before: Snapshot,
  fromLog: boolean,
  rebuilt: Readonly<Record<string, unknown>> = {},
  changed: Readonly<Record<string, unknown>> = {},
): Promise<unknown> {
  const answers = answersIn(input)
  refuseControls([input.state, answers.map(({ payload }) => payload)])
  const edits = { ...(await editedKeys(graph, context, before)), ...changed }
  const hasEdits = Object.keys(edits).length > 0
  if (answers.length > 0) {
    const ids = answers.map(({ interrupt }) => interrupt)
    const used = await usedAnswers(graph, ids, context, before)
    const known = openAnswers(input, before).filter(({ interrupt }) => !used.has(interrupt))
    if (known.length > 0) {
      const { Command } = await import('@langchain/langgraph')
      const resume = known.map(({ interrupt, payload, status }) => [
        graphIdOf(interrupt),
        status === 'cancelled' ? { cancelled: true } : (payload ?? true),
      ])
      const update = hasEdits ? { update: edits } : {}
      return new Command({ resume: Object.fromEntries(resume), ...update })
    }
    const stop = breakpointOf(before)
    const atStop = answers.find(({ interrupt }) => interrupt === stop)
    if (atStop !== undefined && isYes(atStop)) {
      if (!hasEdits) return null
      const { Command } = await import('@langchain/langgraph')
      return new Command({ update: edits })
    }
    if (atStop !== undefined) throw new MillraceError('cancelled', 'the graph was not allowed to continue')
    if (!context.resumed && !input.messages.some(isSaid)) throw lostQuestion(fromLog)
    if (used.size > 0) return null
  }
  if (context.resumed && hasBegun(context, before, fromLog)) return null
  const past = Array.isArray(rebuilt.messages) ? (rebuilt.messages as unknown[]) : []
  return {
    ...rebuilt,
    ...clientState(graph, input, context, before),
    ...edits,
    messages: [...past, ...(await messagesOf(input))],
  }
}

/** Whether the graph goes on from its checkpoint with this input, or begins at its start. */
export function goesOn(input: unknown): boolean {
  return input === null || (isObject(input) && input.lg_name === 'Command')
}

/**
 * The answers of this input. An ADK client answers with a function response, which is always an object: ADK wraps any
 * other value as `result`, and the graph gets the value itself.
 */
export function answersIn({ resume = [], messages }: RunInput): readonly ResumeAnswer[] {
  const responses = messages
    .flatMap(({ content }) => content.parts ?? [])
    .flatMap(({ functionResponse }): readonly ResumeAnswer[] => {
      const { id, response = {} } = functionResponse ?? {}
      if (id === undefined || resume.some(({ interrupt }) => interrupt === id)) return []
      const { result, ...more } = response
      const payload = result !== undefined && Object.keys(more).length === 0 ? result : response
      return [{ interrupt: id, status: 'resolved', payload }]
    })
  return [...resume, ...responses]
}

/** The answers to questions that the graph has open. */
export function openAnswers(input: RunInput, before: Snapshot): readonly ResumeAnswer[] {
  const open = new Set(openQuestions(before).map(({ asked }) => asked.id))
  return answersIn(input).filter(({ interrupt }) => open.has(graphIdOf(interrupt)))
}

/** Whether a message is more than answers to questions. The result of a client's tool (role `tool`) is a message. */
function isSaid({ role, content: { parts = [] } }: InputMessage): boolean {
  return role === 'tool' || parts.length === 0 || parts.some((part) => part.functionResponse === undefined)
}

/** After a crash: whether a checkpoint of this very run exists. Without one, LangGraph has nothing to continue. */
function hasBegun(context: RunContext, before: Snapshot, fromLog: boolean): boolean {
  return fromLog ? ownCheckpoint(context)?.run === context.run : hasBegunIn(before, context)
}

function isYes({ status, payload }: ResumeAnswer): boolean {
  if (status === 'cancelled' || payload === false) return false
  return !isObject(payload) || (payload.confirmed !== false && payload.approved !== false)
}

function lostQuestion(fromLog: boolean): MillraceError {
  const where = fromLog
    ? 'The session has no checkpoint of it that this server wrote for this user'
    : 'Its checkpointer does not have it'
  return new MillraceError(
    'agent-error',
    `the graph no longer waits for this answer, so it cannot continue. ${where}; send a new message to start again.`,
  )
}

/** The ids of the messages from earlier runs, which are in the log already; those inside a waiting inner graph too. */
export function messageIds({ values, tasks = [] }: Snapshot): readonly string[] {
  const messages = isObject(values) && Array.isArray(values.messages) ? values.messages : []
  const own = messages.flatMap((message) => messageParts(message).id ?? [])
  const inner = tasks.flatMap(({ state }) => (isObject(state) ? messageIds(state as Snapshot) : []))
  return [...own, ...inner]
}

/**
 * A client sends the whole state back. Unchanged keys are left out, because a reducer would add them once more, and what
 * an untracked channel had is a result of the run before.
 */
function clientState(
  graph: CompiledGraph,
  input: RunInput,
  { history, run }: RunContext,
  before: Snapshot,
): Readonly<Record<string, Json>> {
  const known = channelsOf(graph)
  const results = untrackedChannels(graph)
  const changed = Object.entries(input.state ?? {}).filter(
    ([key, value]) => known.has(key) && key !== 'messages' && !isSame(before, key, value),
  )
  if (!changed.some(([key]) => results.has(key))) return Object.fromEntries(changed)
  const earlier = history.filter((row) => row.run !== run)
  const values = earlier.reduce<JsonObject>((sum, { event }) => applyState(sum, event), {})
  return Object.fromEntries(changed.filter(([key, value]) => !results.has(key) || !isSame({ values }, key, value)))
}

/**
 * Keys that a person edited since the graph last ran: the graph has not seen the edits. They replace the graph's value,
 * so a reducer is passed by. Messages are left out: the graph keeps them as objects of its own.
 */
async function editedKeys(
  graph: CompiledGraph,
  { history, state }: RunContext,
  before: Snapshot,
): Promise<Readonly<Record<string, unknown>>> {
  const last = history.findLastIndex(({ run }) => run !== '')
  const edits = history.slice(last + 1).flatMap(({ event }) => (event.kind === 'state' ? event.patch : []))
  if (edits.length === 0) return {}
  const known = channelsOf(graph)
  const keys = new Set(edits.map(({ path }) => (path.split('/')[1] ?? '').replaceAll('~1', '/').replaceAll('~0', '~')))
  const changed = [...keys]
    .filter((key) => known.has(key) && key !== 'messages' && Object.hasOwn(state, key))
    .filter((key) => !isSame(before, key, state[key] as Json))
  refuseControls(changed.map((key) => state[key]))
  return replacing(changed.map((key) => [key, known.get(key), state[key] as Json]))
}

/** Writes that replace the value of a channel: a reducer is passed by. */
export async function replacing(
  writes: readonly (readonly [key: string, channel: unknown, value: Json])[],
): Promise<Readonly<Record<string, unknown>>> {
  const { Overwrite } = await import('@langchain/langgraph')
  return Object.fromEntries(
    writes.map(([key, channel, value]) => [key, hasReducer(channel) ? new Overwrite(value) : value]),
  )
}

function isSame({ values }: Snapshot, key: string, value: Json): boolean {
  return isObject(values) && Object.hasOwn(values, key) && isDeepStrictEqual(toJson(values[key]), value)
}

/**
 * The channels of the graph's state. The others are LangGraph's own: a write to `branch:to:pay` would run the node `pay`,
 * so nothing that a user sends may be written there.
 */
export function channelsOf({ channels = {} }: CompiledGraph): ReadonlyMap<string, unknown> {
  return new Map(Object.entries(channels).filter(([name, channel]) => !isInternal(name, channel)))
}

/** The channels that no checkpoint has, such as the structured response of `createAgent`. */
export function untrackedChannels(graph: CompiledGraph): ReadonlySet<string> {
  const found = [...channelsOf(graph)].filter(([, channel]) => kindOf(channel) === 'UntrackedValue')
  return new Set(found.map(([key]) => key))
}

function kindOf(channel: unknown): unknown {
  return isObject(channel) ? channel.lc_graph_name : undefined
}

function isInternal(name: string, channel: unknown): boolean {
  const kind = kindOf(channel)
  return /^(__|branch:|join:)/.test(name) || kind === 'EphemeralValue' || /^NamedBarrierValue/.test(String(kind))
}

/** The marks by which LangGraph takes plain objects for its own `Send`, `Command` and `Overwrite`. */
const controls: ReadonlySet<string> = new Set(['lg_name', '__overwrite__'])

/** What a client sends is data: with such a mark, a node that returns it would be sent anywhere in the graph. */
function refuseControls(sent: unknown): void {
  const found = controlIn(sent)
  if (found === undefined) return
  throw new MillraceError('invalid', `the key ${found} means a step of the graph and cannot be sent; rename it`)
}

export function controlIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, each] of Object.entries(value)) {
    const found = controls.has(key) ? key : controlIn(each)
    if (found !== undefined) return found
  }
  return undefined
}

function hasReducer(channel: unknown): boolean {
  return kindOf(channel) === 'BinaryOperatorAggregate' || kindOf(channel) === 'DeltaChannel'
}

async function messagesOf({ messages }: RunInput): Promise<readonly unknown[]> {
  const { HumanMessage, SystemMessage, AIMessage, ToolMessage } = await import('@langchain/core/messages')
  return messages.filter(isSaid).map(({ id, role, content }) => {
    const parts = content.parts ?? []
    const text = parts.map((part) => part.text ?? '').join('')
    const sent = messageContent(parts) as MessageContent
    const answer = parts.find((part) => part.functionResponse !== undefined)?.functionResponse
    if (role === 'tool' && answer !== undefined) {
      return new ToolMessage({ id, content: JSON.stringify(answer.response ?? {}), tool_call_id: answer.id ?? '' })
    }
    if (role === 'assistant') return new AIMessage({ id, content: text })
    if (role === 'system' || role === 'developer') return new SystemMessage({ id, content: text })
    return new HumanMessage({ id, content: sent })
  })
}
