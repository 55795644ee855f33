import type { AdkContent } from '../../event/adk-event.ts'
import type { ModelFinished, ModelStarted, ToolFinished } from '../../event/call-record.ts'
import { callOf, isToolError, partsOf, responseOf } from '../../event/parts.ts'
import type { AgentSaid, NodeId, Recorded } from '../../event/run-event.ts'
import { isPartial } from '../../event/streaming.ts'
import { defined } from '../../json/defined.ts'
import { isObject, type Json } from '../../json/json.ts'
import type { View } from '../view.ts'
import { sentContent, withRequest } from './request.ts'
import { type Call, type Calls, type ModelRequest, noCalls, unknownModel, withCallsIndex } from './state.ts'

/** Every call of a model and of a tool, with its figures. `modelRequestOf` and `responseOf` have the words. */
export const callsView: View<Calls> = {
  name: 'calls',
  initial: noCalls,
  apply(state, row) {
    const { event } = row
    switch (event.kind) {
      case 'run.started':
        return event.input.messages.reduce((next, { id, content }) => withMessage(next, id, content), state)
      case 'agent':
        return isPartial(event.event) ? state : said(state, row, event)
      case 'model.started':
        return modelStarted(state, row, event)
      case 'model.finished':
        return modelFinished(state, row, event)
      case 'tool.finished':
        return toolFinished(state, row, event)
      case 'superseded':
        return cut(state, row, (node) => node !== undefined && event.nodes.includes(node))
      case 'run.finished':
        return event.outcome === 'interrupted'
          ? waits(
              cut(state, row, (_node, kind) => kind === 'model'),
              row,
            )
          : cut(state, row, () => true)
      default:
        return state
    }
  },
}

/** The request of a model call; undefined where the log does not have it. */
export function modelRequestOf({ index }: Calls, key: string): ModelRequest | undefined {
  const kept = index.requests.get(key)
  return kept === undefined ? undefined : { ...kept, contents: kept.contents.toArray() }
}

/** What a model answered, one content for each message; empty where the log does not have it. */
export function modelAnswersOf({ index }: Calls, { key, messages = [] }: Call): readonly Json[] {
  const own = index.responses.get(key)
  if (own !== undefined) return [own]
  return messages.flatMap((id) => index.messages.get(id) ?? [])
}

/** The call of the same agent's model before this one, in any run. */
export function callBefore({ calls, index }: Calls, { key, agent }: Call): Call | undefined {
  for (let at = (index.places.get(key) ?? 0) - 1; at >= 0; at--) {
    const call = calls.at(at)
    if (call?.kind === 'model' && call.agent === agent) return call
  }
  return undefined
}

function withMessage(state: Calls, id: string, content: AdkContent | undefined): Calls {
  if (!isObject(content)) return state
  return withCallsIndex(state, { messages: state.index.messages.set(id, sentContent(content)) })
}

function said(state: Calls, row: Recorded, { event, message, node }: AgentSaid): Calls {
  if (!isObject(event.content)) return state
  let next = withMessage(state, message, event.content)
  for (const part of partsOf(event.content)) {
    const call = callOf(part)
    const response = responseOf(part)
    if (call !== undefined && typeof call.id === 'string') {
      const { id, name } = call
      next = begun(next, row, { kind: 'tool', call: id, agent: event.author, name, ...defined({ node }) })
    } else if (response !== undefined && typeof response.id === 'string') {
      next = toolAnswered(next, row, response.id, isObject(response.response) && isToolError(response.response.error))
    }
  }
  return next
}

function modelStarted(state: Calls, row: Recorded, event: ModelStarted): Calls {
  const { call, agent, model = unknownModel, node, parameters, request, waited } = event
  const named = { kind: 'model', call, agent, name: model, recorded: request !== undefined } as const
  const remote = waited === undefined ? {} : ({ remote: true, startedAt: row.at - Math.max(0, waited) } as const)
  const next = begun(state, row, { ...named, ...remote, ...defined({ node, parameters }) })
  return next === state ? state : withRequest(next, keyOf(row.run, call), event)
}

function modelFinished(state: Calls, row: Recorded, event: ModelFinished): Calls {
  const { call, status, firstToken, duration, finishReason, usage, cost, messages, error, response, model } = event
  const key = keyOf(row.run, call)
  const next = ended(state, row, key, (before) => {
    const took = duration ?? Math.max(0, row.at - before.startedAt)
    const figures = { firstToken, finishReason, usage, cost, messages, error }
    return {
      ...before,
      ...(model !== undefined && before.name === unknownModel ? { name: model } : {}),
      status,
      duration: took,
      endedAt: Math.min(row.at, before.startedAt + took),
      ...defined(figures),
    }
  })
  if (response === undefined) return next
  return withCallsIndex(next, { responses: next.index.responses.set(key, response) })
}

/** The tool has run; its answer is still to come. Its engine knows when it really began. */
function toolFinished(state: Calls, row: Recorded, { call, status, duration }: ToolFinished): Calls {
  return ended(state, row, toolKey(state, row, call), (before) => ({
    ...before,
    status,
    duration,
    startedAt: Math.max(before.startedAt, row.at - duration),
    endedAt: row.at,
  }))
}

/** A tool of another engine, or one that a person answered, ends with its answer. */
function toolAnswered(state: Calls, row: Recorded, call: string, failed: boolean): Calls {
  return ended(state, row, toolKey(state, row, call), (before) => ({
    ...before,
    status: failed ? 'error' : 'ok',
    duration: Math.max(0, row.at - before.startedAt),
    endedAt: row.at,
  }))
}

type Begun = Pick<Call, 'kind' | 'call' | 'agent' | 'name'> & Partial<Call>

function begun(state: Calls, row: Recorded, fields: Begun): Calls {
  const { run, seq, at } = row
  const key = keyOf(run, fields.call)
  if (state.index.places.get(key) !== undefined) return state
  const position = state.calls.length
  const call: Call = { key, run, status: 'running', startSeq: seq, startedAt: at, ...fields }
  const running = [...(state.index.running.get(run) ?? []), position]
  return withCallsIndex(
    { ...state, calls: state.calls.append(call) },
    { places: state.index.places.set(key, position), running: state.index.running.set(run, running) },
  )
}

function ended(state: Calls, row: Recorded, key: string, change: (call: Call) => Call): Calls {
  const position = state.index.places.get(key)
  const call = position === undefined ? undefined : state.calls.at(position)
  if (position === undefined || (call?.status !== 'running' && call?.status !== 'waiting')) return state
  const running = (state.index.running.get(call.run) ?? []).filter((each) => each !== position)
  const calls = state.calls.with(position, { ...change(call), endSeq: row.seq })
  return withCallsIndex(
    { ...state, calls },
    { running: state.index.running.set(call.run, running), waiting: state.index.waiting.delete(call.call) },
  )
}

/** A tool that waits for a person has not ended with the run that asked. */
function waits(state: Calls, { run }: Recorded): Calls {
  let { calls } = state
  let { waiting } = state.index
  for (const position of state.index.running.get(run) ?? []) {
    const call = calls.at(position)
    if (call === undefined) continue
    calls = calls.with(position, { ...call, status: 'waiting' })
    waiting = waiting.set(call.call, call.key)
  }
  return calls === state.calls ? state : withCallsIndex({ ...state, calls }, { waiting })
}

/** The call that a tool's answer belongs to: of its own run, else the one that an earlier run left waiting. */
function toolKey({ index }: Calls, { run }: Recorded, call: string): string {
  const own = keyOf(run, call)
  return index.places.get(own) === undefined ? (index.waiting.get(call) ?? own) : own
}

/** A call without an answer has no end that anything measured. */
function cut(state: Calls, row: Recorded, isLost: (node: NodeId | undefined, kind: Call['kind']) => boolean): Calls {
  let next = state
  for (const position of state.index.running.get(row.run) ?? []) {
    const call = state.calls.at(position)
    if (call === undefined || !isLost(call.node, call.kind)) continue
    next = ended(next, row, call.key, (before) => ({ ...before, status: 'cut' }))
  }
  return next
}

function keyOf(run: string, call: string): string {
  return `${run}/${call}`
}
