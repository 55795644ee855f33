import {
  type AdkContent,
  applyState,
  defined,
  functionCallsOf,
  functionResponsesOf,
  type JsonObject,
  type Outcome,
  type Problem,
  type Recorded,
} from '@millrace/core'
import { isNested } from '../agent/nested-event.ts'
import type { ExpectedTool } from './case-file.ts'
import { conversationOf } from './conversation.ts'

/** What a run of a case did. An assertion file gets this. */
export interface CaseFacts {
  readonly turns: readonly TurnFacts[]
  readonly state: JsonObject
  readonly tokens: number
  readonly calls: number
  /** US dollars; absent where the price of a model is not known. */
  readonly cost?: number
  readonly seconds: number
  /** Every event of the session. */
  readonly rows: readonly Recorded[]
}

export interface TurnFacts {
  readonly outcome: Outcome
  readonly error?: Problem
  /** In the order in which their agents began, each agent's own in the order of its calls. */
  readonly tools: readonly ExpectedTool[]
  /** What tools answered, as JSON text. */
  readonly results: readonly string[]
  readonly response: string
}

export function turnFacts(rows: readonly Recorded[]): TurnFacts {
  const nodes = new Map<string, ExpectedTool[]>()
  const results: string[] = []
  let outcome: Outcome = 'failed'
  let error: Problem | undefined
  for (const { event } of rows) {
    if (event.kind === 'node.started') nodes.set(event.node, [])
    else if (event.kind === 'run.finished') ({ outcome, error } = event)
    else if (event.kind === 'agent' && event.event.partial !== true) {
      const { node = event.event.author } = event
      const calls = nodes.get(node) ?? []
      nodes.set(node, calls)
      const place = isNested(event.event) ? { nested: true } : {}
      // ADK asks a person by a call of its own, whose arguments have ids: it is a question and no tool.
      for (const { name, args } of functionCallsOf(event.event))
        if (!name.startsWith('adk_request_')) calls.push({ by: event.event.author, name, args: args ?? {}, ...place })
      for (const { response } of functionResponsesOf(event.event)) results.push(JSON.stringify(response ?? {}))
    }
  }
  const response = textOf(conversationOf(rows).at(-1)?.finalResponse)
  return { outcome, ...defined({ error }), tools: [...nodes.values()].flat(), results, response }
}

/** The state that a session ends with. Keys `temp:` last for one run and are no part of it. */
export function endState(rows: readonly Recorded[]): JsonObject {
  const state = rows.reduce<JsonObject>((sum, { event }) => applyState(sum, event), {})
  return Object.fromEntries(Object.entries(state).filter(([key]) => !key.startsWith('temp:')))
}

const textOf = (content: AdkContent | undefined): string => (content?.parts ?? []).map(({ text = '' }) => text).join('')
