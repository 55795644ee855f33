import {
  AbstractAgent,
  type BaseEvent,
  defaultApplyEvents,
  enforceEvents,
  type Message,
  type RunAgentInput,
  transformChunks,
  verifyEvents,
} from '@ag-ui/client'
import { EventSchemas } from '@ag-ui/core/schemas'
import {
  adkRequest,
  type Frame,
  fold,
  itemsOf,
  type Json,
  type JsonObject,
  type Recorded,
  stateView,
  type ToolCard,
  transcriptView,
} from '@millrace/core'
import { from, lastValueFrom, type Observable, of, toArray } from 'rxjs'
import { expect } from 'vitest'

/** What the official client ends up with. */
export interface Official {
  readonly messages: readonly Message[]
  readonly state: unknown
  readonly pendingInterrupts: readonly unknown[]
}

class Replay extends AbstractAgent {
  override run(_: RunAgentInput): Observable<BaseEvent> {
    return of()
  }
}

export function eventsOf(frames: readonly Frame[]): BaseEvent[] {
  return frames.filter((frame) => frame.data !== '').map((frame) => JSON.parse(frame.data) as BaseEvent)
}

/**
 * Every event by the official schema, their order by `verifyEvents`, and nothing that the client would strip, unless
 * `newer` says that the stream holds what is newer than the client.
 */
export async function accepted(frames: readonly Frame[], newer = false): Promise<BaseEvent[]> {
  const events = eventsOf(frames)
  for (const event of events) EventSchemas.parse(event)
  const warnings: string[] = []
  const { warn } = console
  console.warn = (...said: unknown[]) => void warnings.push(said.join(' '))
  try {
    const passed = await lastValueFrom(from(events).pipe(enforceEvents(), transformChunks(), verifyEvents(), toArray()))
    if (warnings.length > 0 && !newer) throw new Error(warnings.join('\n'))
    return passed
  } finally {
    console.warn = warn
  }
}

/** Frames through the official pipeline, from bytes parsed to messages and state. */
export async function official(frames: readonly Frame[], newer = false): Promise<Official> {
  const events = await accepted(frames, newer)
  const agent = new Replay({ threadId: 's' })
  const input: RunAgentInput = { threadId: 's', runId: 'r', messages: [], tools: [], context: [], state: {} }
  let messages: readonly Message[] = []
  let state: unknown = {}
  await new Promise<void>((resolve, reject) => {
    defaultApplyEvents(input, from(events), agent, []).subscribe({
      next(mutation) {
        if (mutation.messages !== undefined) messages = mutation.messages
        if (mutation.state !== undefined) state = mutation.state
      },
      error: reject,
      complete: resolve,
    })
  })
  return { messages, state, pendingInterrupts: agent.pendingInterrupts }
}

/** The official client ends with the messages, calls, results and state that our views show. */
export function expectSame(client: Official, rows: readonly Recorded[]): void {
  expect(client.state).toEqual(fold(stateView, rows).current)
  expect(saidBy(client)).toEqual(saidIn(rows))
  expect(calledBy(client, unfinished(rows))).toEqual(calledIn(rows))
}

interface Said {
  readonly role: string
  readonly text: string
}

/** Messages with text, by id. Reasoning apart: its ids are the wire's own. */
function saidBy({ messages }: Official): {
  readonly spoken: Record<string, Said>
  readonly thoughts: readonly string[]
} {
  const spoken: Record<string, Said> = {}
  const thoughts: string[] = []
  for (const message of messages) {
    if (message.role === 'tool' || message.role === 'activity') continue
    const text = typeof message.content === 'string' ? message.content : textOf(message.content)
    if (text === '') continue
    if (message.role === 'reasoning') thoughts.push(text)
    else spoken[message.id] = { role: message.role === 'user' ? 'user' : 'agent', text }
  }
  return { spoken, thoughts: thoughts.sort() }
}

function saidIn(rows: readonly Recorded[]): ReturnType<typeof saidBy> {
  const spoken: Record<string, Said> = {}
  const thoughts: string[] = []
  for (const item of itemsOf(fold(transcriptView, rows))) {
    if (item.kind !== 'message' || item.superseded) continue
    if (item.thoughts !== '') thoughts.push(item.thoughts)
    // A client knows a message by its id alone, in whatever run it was said.
    const id = item.id.replace(/:again.*$/, '') // a message that a snapshot changed goes on under another id
    const before = spoken[id]?.text ?? ''
    if (item.text !== '') spoken[id] = { role: item.role === 'user' ? 'user' : 'agent', text: before + item.text }
  }
  return { spoken, thoughts: thoughts.sort() }
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return ''
  return content.map((part: { text?: string }) => part.text ?? '').join('')
}

/** Calls with their last results, compared by content: sources without call ids have none to compare. */
function calledBy({ messages }: Official, unfinished: ReadonlySet<string>): readonly string[] {
  const results = new Map<string, JsonObject>()
  for (const message of messages) {
    if (message.role === 'tool') results.set(message.toolCallId, responseOf(message.content as Json))
  }
  const calls = messages
    .flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
    .filter((call) => !unfinished.has(call.id))
  const known = new Set(calls.map((call) => call.id))
  const made = calls.map((call) => line(call.function.name, argsOf(call.function.arguments), results.get(call.id)))
  const orphans = [...results].filter(([id]) => !known.has(id)).map(([, result]) => line('', undefined, result))
  return [...made, ...orphans].sort()
}

/** Calls of which only some of the arguments came: a client has seen them, but they were never made (SPEC 1.5). */
function unfinished(rows: readonly Recorded[]): ReadonlySet<string> {
  const calls = rows.flatMap(({ event }) =>
    event.kind === 'agent' ? (event.event.content?.parts ?? []).flatMap((part) => part?.functionCall ?? []) : [],
  )
  const made = new Set(calls.filter((call) => call.argsDelta === undefined).map((call) => call.id))
  return new Set(calls.flatMap(({ id }) => (id === undefined || made.has(id) ? [] : [id])))
}

/** ADK's own calls that ask a person: a client of AG-UI sees interrupts. */
const questions: ReadonlySet<string> = new Set(Object.values(adkRequest))

function calledIn(rows: readonly Recorded[]): readonly string[] {
  const cards = itemsOf(fold(transcriptView, rows)).flatMap((item) =>
    item.kind === 'message' && !item.superseded
      ? item.parts.filter((part): part is ToolCard => part.kind === 'tool' && !questions.has(part.name))
      : [],
  )
  return cards
    .map((card) => (card.orphan ? line('', undefined, card.result) : line(card.name, card.args, card.result)))
    .sort()
}

function line(name: string, args: unknown, result: unknown): string {
  return JSON.stringify([name, args ?? {}, result ?? null])
}

function argsOf(text: string): unknown {
  try {
    const args: unknown = JSON.parse(text)
    return typeof args === 'object' && !Array.isArray(args) ? args : {}
  } catch {
    return {}
  }
}

function responseOf(content: Json): JsonObject {
  if (typeof content !== 'string') return responseOf(textOf(content))
  try {
    const value: Json = JSON.parse(content)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject
  } catch {
    // Plain text.
  }
  return { result: content }
}
