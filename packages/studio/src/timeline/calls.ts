import {
  type Cost,
  defined,
  functionCallsOf,
  functionResponsesOf,
  isJsonObject,
  isModelCall,
  isPartial,
  type Recorded,
  type Usage,
  type View,
} from '@millrace/core'
import { Dictionary, Sequence } from '@millrace/core/persistent'

/** A call of a model or a tool inside a step. */
export interface CallSpan {
  readonly key: string
  readonly kind: 'model' | 'tool'
  readonly name: string
  readonly run: string
  /** The step that made the call: its node, or its agent where the log has no nodes. */
  readonly owner: string
  /** The id of the function call. */
  readonly call?: string
  readonly startSeq: number
  readonly startedAt: number
  /** The event and the time of the first token of a model's answer. */
  readonly firstSeq?: number
  readonly firstAt?: number
  readonly endSeq?: number
  readonly endedAt?: number
  readonly failed?: boolean
  /** Of a model call. */
  readonly usage?: Usage
  readonly cost?: Cost
}

interface Calls {
  readonly list: Sequence<CallSpan>
  /** The places of calls without an end, by run and owner or by run and id. */
  readonly open: Dictionary<number>
}

/** The calls in the order of their starts. Tools that ADK uses to ask and to hand over are no work of their own. */
export const callSpansView: View<Calls> = {
  name: 'call spans',
  initial: { list: Sequence.empty, open: Dictionary.empty },
  // The first token is a partial.
  dependsOnPartials: true,
  apply(state, row) {
    const { event, run } = row
    if (isModelCall(event)) return modelCalled(state, row)
    if (event.kind === 'model.finished')
      return finished(state, `${run}\ncall ${event.call}`, row, event.duration, event.status === 'error', event)
    if (event.kind === 'tool.finished')
      return finished(state, `${run}\ntool ${event.call}`, row, event.duration, event.status === 'error')
    if (event.kind === 'run.finished')
      return state.open === Dictionary.empty ? state : { ...state, open: Dictionary.empty }
    if (event.kind === 'node.finished') {
      const place = state.open.get(`${run}\nmodel ${event.node}`)
      return place === undefined
        ? state
        : ended(state, place, `${run}\nmodel ${event.node}`, row, event.status === 'error')
    }
    if (event.kind !== 'agent' || event.event.author === 'user') return state
    const owner = event.node ?? event.event.author ?? ''
    const answering = state.open.get(`${run}\nmodel ${owner}`)
    if (isPartial(event.event)) return answering === undefined ? state : firstToken(state, answering, row)
    const responses = functionResponsesOf(event.event)
    let next = state
    for (const { id, response } of responses) {
      const place = id === undefined ? undefined : next.open.get(`${run}\ntool ${id}`)
      const failed = isJsonObject(response as never) && 'error' in (response as object)
      if (place !== undefined) next = ended(next, place, `${run}\ntool ${id}`, row, failed)
    }
    if (responses.length > 0) return next
    const { content, usageMetadata } = event.event
    if (answering !== undefined && (content !== undefined || usageMetadata !== undefined)) {
      next = ended(next, answering, `${run}\nmodel ${owner}`, row, event.event.errorCode !== undefined)
    }
    for (const { id, name } of functionCallsOf(event.event)) {
      if (id === undefined || name === 'transfer_to_agent' || name.startsWith('adk_request_')) continue
      if (next.open.get(`${run}\ntool ${id}`) !== undefined) continue
      const { seq, at } = row
      const span: CallSpan = {
        key: `tool ${id} ${seq}`,
        kind: 'tool',
        name,
        run,
        owner,
        call: id,
        startSeq: seq,
        startedAt: at,
      }
      next = { list: next.list.append(span), open: next.open.set(`${run}\ntool ${id}`, next.list.length) }
    }
    return next
  },
}

function modelCalled(state: Calls, { seq, at, run, event }: Recorded): Calls {
  // Logs of older servers have a debug line in place of `model.started`.
  const data = event.kind === 'log' && isJsonObject(event.data) ? event.data : {}
  const model = event.kind === 'model.started' ? event.model : data.model
  const owner =
    event.kind === 'model.started' ? (event.node ?? event.agent) : event.kind === 'log' ? (event.node ?? '') : ''
  const name = typeof model === 'string' ? model : 'model'
  const span: CallSpan = { key: `model ${seq}`, kind: 'model', name, run, owner, startSeq: seq, startedAt: at }
  const open = state.open.set(`${run}\nmodel ${owner}`, state.list.length)
  const named = event.kind === 'model.started' ? open.set(`${run}\ncall ${event.call}`, state.list.length) : open
  return { list: state.list.append(span), open: named }
}

/** The engine measured how long it took; the times of the log may lie a little later. */
function finished(
  state: Calls,
  key: string,
  row: Recorded,
  took: number | undefined,
  failed: boolean,
  { usage, cost }: Pick<CallSpan, 'usage' | 'cost'> = {},
): Calls {
  const place = state.open.get(key)
  const span = place === undefined ? undefined : state.list.at(place)
  if (place === undefined || span === undefined) return state
  const told = ended(state, place, key, row, failed)
  const owner = `${row.run}\nmodel ${span.owner}`
  const next = told.open.get(owner) === place ? { ...told, open: told.open.delete(owner) } : told
  const times =
    took === undefined
      ? {}
      : span.kind === 'tool'
        ? { startedAt: Math.max(span.startedAt, row.at - took) }
        : { endedAt: Math.min(row.at, span.startedAt + took) }
  const done = next.list.at(place)
  return done === undefined
    ? next
    : { ...next, list: next.list.with(place, { ...done, ...times, ...defined({ usage, cost }) }) }
}

function firstToken(state: Calls, place: number, { seq, at }: Recorded): Calls {
  const span = state.list.at(place)
  if (span === undefined || span.firstSeq !== undefined) return state
  return { ...state, list: state.list.with(place, { ...span, firstSeq: seq, firstAt: at }) }
}

function ended(state: Calls, place: number, key: string, { seq, at }: Recorded, failed: boolean): Calls {
  const span = state.list.at(place)
  if (span === undefined) return state
  const done = defined({ ...span, endSeq: seq, endedAt: at, failed: failed || undefined })
  return { list: state.list.with(place, done), open: state.open.delete(key) }
}
