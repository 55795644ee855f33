import type { AdkFunctionCall, AdkFunctionResponse } from '../../event/adk-event.ts'
import { callOf, partsOf, responseOf } from '../../event/parts.ts'
import type { AgentSaid, Recorded, Superseded } from '../../event/run-event.ts'
import { isPartial, spokenText } from '../../event/streaming.ts'
import { Dictionary } from '../../persistent/dictionary.ts'
import { Sequence } from '../../persistent/sequence.ts'
import { openTexts, withPartial } from '../open-text.ts'
import type { Given, PlanState, PlanText } from './state.ts'
import { changeTask, knownTask, taskOf } from './task.ts'

type Row = Pick<Recorded, 'seq' | 'at' | 'run'>

/** The text and calls of an agent that works on a task. Only events that name the task count. */
export function planFromEvent(state: PlanState, { run, seq, at }: Row, event: AgentSaid, task: string): PlanState {
  if (isPartial(event.event)) return streamed(state, run, seq, event)
  const text = spokenText(event.event)
  const parts = partsOf(event.event.content)
  if (parts.length === 0) return state
  let next = withoutStreaming(knownTask(state, task, { seq, at, run }), run, event.message)
  if (text !== '') next = withText(next, run, task, { message: event.message, author: event.event.author, text, seq })
  for (const part of parts) {
    const call = callOf(part)
    if (call !== undefined) next = withCall(next, run, seq, task, event.message, call)
    const response = responseOf(part)
    if (response !== undefined) next = withResponse(next, run, seq, task, response)
  }
  return next
}

/** The run is over: text that is still open gets no aggregate any more, so it is all there is. */
export function settleStreaming(state: PlanState, run: string, row: Row): PlanState {
  const open = state.streaming.get(run)
  if (open === undefined) return state
  let next = state
  for (const { text, said, seq } of openTexts(open)) {
    const { task = '', message, event } = said
    next = withText(knownTask(next, task, row), run, task, { message, author: event.author, text, seq })
  }
  return { ...next, streaming: next.streaming.delete(run) }
}

/** A step that a crash interrupted runs again: text and calls of the first attempt stay, marked (SPEC 4.6). */
export function withdrawn(state: PlanState, run: string, { messages }: Superseded): PlanState {
  let next = state
  for (const message of messages) {
    next = withoutStreaming(next, run, message)
    const place = next.given.get(messageKey(run, message))
    if (place === undefined || taskOf(next, place.task)?.since !== place.since) continue
    next = changeTask(next, place.task, (task) => {
      let { content, calls } = task
      const text = place.content === undefined ? undefined : content.at(place.content)
      if (text !== undefined && place.content !== undefined) {
        content = content.with(place.content, { ...text, superseded: true })
      }
      for (const at of place.calls) {
        const call = calls.at(at)
        if (call !== undefined) calls = calls.with(at, { ...call, superseded: true })
      }
      return { ...task, content, calls }
    })
  }
  return next
}

function streamed(state: PlanState, run: string, seq: number, event: AgentSaid): PlanState {
  const before = state.streaming.get(run) ?? Dictionary.empty
  const open = withPartial(before, event, seq)
  return open === before ? state : { ...state, streaming: state.streaming.set(run, open) }
}

function withoutStreaming(state: PlanState, run: string, message: string): PlanState {
  const open = state.streaming.get(run)
  const rest = open?.delete(message)
  return rest === undefined || rest === open ? state : { ...state, streaming: state.streaming.set(run, rest) }
}

function withText(state: PlanState, run: string, id: string, text: PlanText): PlanState {
  const place = placeOf(state, run, text.message, id)
  const content = taskOf(state, id)?.content
  const known = place.content
  // The message is compared, because seqs that repeat (a broken log) can make a new task look like the one before.
  if (known !== undefined && content?.at(known)?.message === text.message) {
    return changeTask(state, id, (task) => ({ ...task, content: task.content.with(known, text) }))
  }
  const next = changeTask(state, id, (task) => ({ ...task, content: task.content.append(text) }))
  return withPlace(next, run, text.message, { ...place, content: content?.length ?? 0 })
}

function withCall(
  state: PlanState,
  run: string,
  seq: number,
  id: string,
  message: string,
  call: AdkFunctionCall,
): PlanState {
  const at = taskOf(state, id)?.calls.length ?? 0
  const { id: callId, name, args } = call
  const made = { ...(callId === undefined ? {} : { id: callId }), name, ...(args === undefined ? {} : { args }), seq }
  const next = changeTask(state, id, (task) => ({ ...task, calls: task.calls.append(made) }))
  const place = placeOf(next, run, message, id)
  const key = callKey(next, run, id, call)
  const open = next.open.get(key) ?? { places: Sequence.empty, next: 0 }
  const waiting = { ...next, open: next.open.set(key, { ...open, places: open.places.append(at) }) }
  return withPlace(waiting, run, message, { ...place, calls: place.calls.append(at) })
}

/** By id, else the oldest open call of that name; a second response to one id replaces the first (long-running tools). */
function withResponse(state: PlanState, run: string, seq: number, id: string, answer: AdkFunctionResponse): PlanState {
  const key = callKey(state, run, id, answer)
  const open = state.open.get(key)
  const at = open?.places.at(open.next) ?? (hasId(answer) ? open?.places.at(-1) : undefined)
  if (open === undefined || at === undefined) return state
  const next = changeTask(state, id, (task) => {
    const call = task.calls.at(at)
    if (call === undefined) return task
    const response = answer.response === undefined ? {} : { response: answer.response }
    return { ...task, calls: task.calls.with(at, { ...call, ...response, answered: seq }) }
  })
  return { ...next, open: next.open.set(key, { ...open, next: Math.min(open.next + 1, open.places.length) }) }
}

function hasId({ id }: { readonly id?: string }): boolean {
  return typeof id === 'string' && id !== ''
}

function callKey(state: PlanState, run: string, id: string, call: AdkFunctionCall | AdkFunctionResponse): string {
  const task = `${id}\n${taskOf(state, id)?.since ?? 0}`
  return hasId(call) ? `${task}\nid\n${call.id}` : `${task}\n${run}\nname\n${call.name}`
}

function messageKey(run: string, message: string): string {
  return `${run}\n${message}`
}

function placeOf(state: PlanState, run: string, message: string, task: string): Given {
  const place = state.given.get(messageKey(run, message))
  const since = taskOf(state, task)?.since ?? 0
  return place?.task === task && place.since === since ? place : { task, since, calls: Sequence.empty }
}

function withPlace(state: PlanState, run: string, message: string, place: Given): PlanState {
  return { ...state, given: state.given.set(messageKey(run, message), place) }
}
