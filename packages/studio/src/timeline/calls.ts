import {
  type Cost,
  defined,
  functionCallsOf,
  functionResponsesOf,
  isJsonObject,
  isModelCall,
  isObject,
  isPartial,
  type ModelFinished,
  type Recorded,
  type ToolFinished,
  type Usage,
  unknownModel,
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
  /** The id of the call in its run, where the log has one. */
  readonly call?: string
  readonly startSeq: number
  readonly startedAt: number
  /** The event and the time of the first token of a model's answer. */
  readonly firstSeq?: number
  readonly firstAt?: number
  readonly endSeq?: number
  /** The event with the record of its end, where that is later than `endSeq`. */
  readonly recordSeq?: number
  readonly endedAt?: number
  readonly failed?: boolean
  /** A later run brought the answer. The bar ends with the run that asked, because the wait for a person is no work. */
  readonly answered?: true
  /** Milliseconds, as the record of the call has them: the same figures as in the Step panel. */
  readonly duration?: number
  readonly firstAfter?: number
  /** Another server made the call: its times count from what arrived before its answer. */
  readonly remote?: true
  /** For such a call: the last whole event of its step before the first sign of the call. */
  readonly ledBy?: number
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
    if (event.kind === 'model.finished') return finished(state, `${run}\ncall ${event.call}`, row, event)
    if (event.kind === 'tool.finished') return finished(state, toolKey(state, run, event.call), row, event)
    if (event.kind === 'run.finished')
      return state.open === Dictionary.empty || event.outcome === 'interrupted'
        ? state
        : { ...state, open: Dictionary.empty }
    if (event.kind === 'node.finished') {
      const place = state.open.get(`${run}\nline ${event.node}`)
      return place === undefined
        ? state
        : ended(state, place, `${run}\nline ${event.node}`, row, event.status === 'error')
    }
    if (event.kind !== 'agent') return state
    const owner = event.node ?? event.event.author ?? ''
    const answering = state.open.get(`${run}\nline ${owner}`)
    if (isPartial(event.event)) {
      const speaking = answering ?? state.open.get(`${run}\nmodel ${owner}`)
      return speaking === undefined ? state : firstToken(state, speaking, row)
    }
    const responses = functionResponsesOf(event.event)
    let next = state
    for (const { id, response } of responses) {
      const key = id === undefined ? '' : toolKey(next, run, id)
      const place = next.open.get(key)
      const failed = isObject(response) && Boolean(response.error)
      if (place !== undefined) next = ended(next, place, key, row, failed)
    }
    if (event.event.author !== 'user') next = { ...next, open: next.open.set(`${run}\nsaid ${owner}`, row.seq) }
    if (responses.length > 0 || event.event.author === 'user') return next
    const { content, usageMetadata } = event.event
    if (answering !== undefined && (content !== undefined || usageMetadata !== undefined)) {
      next = ended(next, answering, `${run}\nline ${owner}`, row, event.event.errorCode !== undefined)
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
      const place = next.list.length
      const opened = next.open.set(`${run}\ntool ${id}`, place).set(`waiting ${id}`, place)
      next = { list: next.list.append(span), open: opened }
    }
    return next
  },
}

/** A tool that waited for a person is answered in a later run. */
function toolKey({ open }: Calls, run: string, id: string): string {
  const own = `${run}\ntool ${id}`
  return open.get(own) === undefined ? `waiting ${id}` : own
}

function modelCalled(state: Calls, { seq, at, run, event }: Recorded): Calls {
  // Logs of older servers have a debug line in place of `model.started`.
  const data = event.kind === 'log' && isJsonObject(event.data) ? event.data : {}
  const record = event.kind === 'model.started' ? event : undefined
  const model = record?.model ?? data.model
  const owner = record === undefined ? (event.kind === 'log' ? (event.node ?? '') : '') : (record.node ?? record.agent)
  const name = typeof model === 'string' ? model : unknownModel
  const ledBy = state.open.get(`${run}\nsaid ${owner}`)
  const remote =
    record?.waited === undefined
      ? {}
      : ({ remote: true, startedAt: at - Math.max(0, record.waited), ...defined({ ledBy }) } as const)
  const span: CallSpan = {
    key: `model ${seq}`,
    kind: 'model',
    name,
    run,
    owner,
    startSeq: seq,
    startedAt: at,
    ...defined({ call: record?.call }),
    ...remote,
  }
  const place = state.list.length
  // Only its record ends a recorded call.
  const open =
    record === undefined
      ? state.open.set(`${run}\nline ${owner}`, place)
      : state.open.set(`${run}\nmodel ${owner}`, place).set(`${run}\ncall ${record.call}`, place)
  return { list: state.list.append(span), open }
}

/** The engine measured how long it took; the times of the log may lie a little later. */
function finished(state: Calls, key: string, row: Recorded, event: ModelFinished | ToolFinished): Calls {
  const place = state.open.get(key)
  const span = place === undefined ? undefined : state.list.at(place)
  if (place === undefined || span === undefined) return state
  const after = ended(state, place, key, row, event.status === 'error')
  const owner = `${row.run}\nmodel ${span.owner}`
  const next = after.open.get(owner) === place ? { ...after, open: after.open.delete(owner) } : after
  const done = next.list.at(place)
  const said = state.open.get(`${row.run}\nsaid ${span.owner}`)
  return done === undefined
    ? next
    : { ...next, list: next.list.with(place, { ...done, ...recorded(span, row, event, said) }) }
}

function recorded(
  span: CallSpan,
  { at, seq }: Recorded,
  event: ModelFinished | ToolFinished,
  said: number | undefined,
): Partial<CallSpan> {
  const { duration } = event
  if (event.kind === 'tool.finished')
    return { duration: event.duration, startedAt: Math.max(span.startedAt, at - event.duration) }
  const { usage, cost, firstToken, model } = event
  const endedAt = duration === undefined ? undefined : Math.min(at, span.startedAt + duration)
  // The record of another server's call may come late: only the next sign shows that nothing more comes of it.
  const endSeq = span.remote === true && said !== undefined && said > span.startSeq ? said : undefined
  const name = span.name === unknownModel ? model : undefined
  return defined({
    duration,
    firstAfter: firstToken,
    usage,
    cost,
    endedAt,
    endSeq,
    recordSeq: endSeq === undefined ? undefined : seq,
    name,
  })
}

function firstToken(state: Calls, place: number, { seq, at }: Recorded): Calls {
  const span = state.list.at(place)
  if (span === undefined || span.firstSeq !== undefined) return state
  return { ...state, list: state.list.with(place, { ...span, firstSeq: seq, firstAt: at }) }
}

function ended(state: Calls, place: number, key: string, { seq, at, run }: Recorded, failed: boolean): Calls {
  const span = state.list.at(place)
  if (span === undefined) return state
  const isOwn = span.run === run
  const end = isOwn ? { endSeq: seq } : ({ answered: true } as const)
  const done = defined({ ...span, ...end, endedAt: at, failed: failed || undefined })
  const open = state.open.delete(key)
  return {
    list: state.list.with(place, done),
    open: span.kind === 'model' ? open : open.delete(`waiting ${span.call}`),
  }
}
