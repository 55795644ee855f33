import type { AdkEvent, AdkFunctionCall, AdkFunctionResponse } from '../../event/adk-event.ts'
import { callOf, partsOf, responseOf } from '../../event/parts.ts'
import type { AgentSaid } from '../../event/run-event.ts'
import { isPartial, spokenText } from '../../event/streaming.ts'
import { isObject } from '../../json/json.ts'
import { refusedLayers } from '../proof/read.ts'
import type { AnsweredCall, CallTrack, MessageTrack } from './state.ts'
import { addProblem, follows, followsAll, mostIds, quoted, type Step } from './step.ts'

/** A shorter delta may repeat the one before by chance. */
const shortest = 12
/** ADK dates a model's answer by the start of its step, and specialists overlap: a smaller step back is normal. */
const tolerance = 10 * 60_000

/** Lints an agent's event: text, calls, responses, proof. */
export function lintMessage(step: Step, said: AgentSaid): void {
  const { event, message } = said
  const partial = isPartial(event)
  const text = spokenText(event)
  lintTime(step, event)
  if (partial) lintDelta(step, message, text)
  else {
    lintParts(step, event)
    lintEventId(step, event)
    lintWhole(step, message, text)
  }
  const made: string[] = []
  const answers: AnsweredCall[] = []
  for (const part of partsOf(event.content)) {
    const call = callOf(part)
    if (call !== undefined) made.push(lintCall(step, event, call, partial))
    const response = partial ? undefined : responseOf(part)
    const answered = response === undefined ? undefined : lintResponse(step, response)
    if (answered !== undefined) answers.push(answered)
  }
  const track = made.length + answers.length === 0 ? undefined : step.run.messages.get(message)
  if (track !== undefined) {
    const all = [...(track.answers ?? []), ...answers]
    setMessage(step, message, { ...track, calls: [...track.calls, ...made], answers: all })
  }
  if (partial) return
  for (const { reason, call } of refusedLayers({ said, seq: step.row.seq })) {
    const sentence = `A proof_layer of ${quoted(event.author)} is not used: ${reason}.`
    addProblem(step, 'bad-proof', sentence, call === undefined ? {} : { call })
  }
}

function lintTime(step: Step, { timestamp }: AdkEvent): void {
  if (typeof timestamp !== 'number' || !(timestamp > 0)) return
  const { time } = step.run
  if (timestamp < time - tolerance) {
    const minutes = Math.round((time - timestamp) / 60_000)
    addProblem(step, 'time-backwards', `The event is dated ${minutes} minutes before one that came earlier.`)
  }
  if (timestamp > time || timestamp < time - tolerance) step.run.time = timestamp
}

function lintEventId(step: Step, { id, author }: AdkEvent): void {
  const { seq } = step.row
  if (typeof id !== 'string' || id === '') return
  const earlier = step.run.events.get(id)
  if (earlier !== undefined) {
    addProblem(step, 'event-repeated', `The event ${quoted(id)} of ${quoted(author)} was delivered before.`, {
      earlier,
    })
  } else if (follows(step)) step.run.events = step.run.events.set(id, seq)
}

function lintDelta(step: Step, message: string, delta: string): void {
  const { seq } = step.row
  const known = step.run.messages.get(message)
  if (known === undefined) {
    if (follows(step)) setMessage(step, message, { text: delta, delta, seq, calls: [] })
    return
  }
  if (known.whole !== undefined) {
    const sentence = `A delta came for message ${quoted(message)}, which was complete.`
    if (delta !== '') addProblem(step, 'delta-after-whole', sentence, { earlier: known.whole })
    return
  }
  if (delta === '') return
  const cumulative =
    known.delta.length >= shortest && delta.length > known.delta.length && delta.startsWith(known.delta)
  if (cumulative && known.cumulative === undefined) {
    const sentence = `The deltas of message ${quoted(message)} repeat the text so far instead of adding to it.`
    addProblem(step, 'cumulative-text', sentence, { earlier: known.seq })
  }
  const flag = cumulative ? true : known.cumulative
  const { whole, calls, answers } = known
  setMessage(step, message, { text: known.text + delta, delta, seq, cumulative: flag, whole, calls, answers })
}

function lintWhole(step: Step, message: string, text: string): void {
  const { seq } = step.row
  const known = step.run.messages.get(message)
  if (known === undefined && !follows(step)) return
  const open = known !== undefined && known.whole === undefined ? known : undefined
  if (open !== undefined && open.cumulative === undefined && open.text !== '' && text !== '' && open.text !== text) {
    const sentence = `The complete text of message ${quoted(message)} has ${text.length} characters, its deltas add up to ${open.text.length}${open.text.length === text.length ? ' others' : ''}.`
    addProblem(step, 'text-differs', sentence, { earlier: open.seq })
  }
  const { calls = [], answers } = known ?? {}
  setMessage(step, message, { text: '', delta: '', seq, whole: seq, calls, answers })
}

/** The ingest refuses parts that it cannot read, but a log may be restored from an unchecked file. */
function lintParts(step: Step, { content, author }: AdkEvent): void {
  if (content === undefined || content === null) return
  const parts: unknown = isObject(content) ? (content.parts ?? []) : undefined
  const wrong = (part: unknown): boolean =>
    !isObject(part) ||
    (part.functionCall !== undefined && callOf(part) === undefined) ||
    (part.functionResponse !== undefined && responseOf(part) === undefined) ||
    (part.text !== undefined && typeof part.text !== 'string')
  if (Array.isArray(parts) && !parts.some(wrong)) return
  addProblem(step, 'bad-part', `A message of ${quoted(author)} holds a part that is not text, call, response or data.`)
}

/** Calls without an id are tracked by their name. */
function keyOf({ id, name }: AdkFunctionCall | AdkFunctionResponse): string {
  return typeof id === 'string' && id !== '' ? id : `\n${name}`
}

function lintCall(step: Step, event: AdkEvent, call: AdkFunctionCall, partial: boolean): string {
  const { seq } = step.row
  const key = keyOf(call)
  const known = step.run.calls.get(key)
  const args: unknown = call.args
  if (!partial && args !== undefined && args !== null && !isObject(args)) {
    addProblem(step, 'bad-args', `The arguments of ${quoted(call.name)} are not an object.`, { call: key })
  }
  const long: unknown = event.longRunningToolIds
  const flag = Array.isArray(long) && long.includes(key) ? ({ longRunning: true } as const) : {}
  if (key.startsWith('\n')) {
    const waiting = (known?.waiting ?? 0) + (partial ? 0 : 1)
    if (known !== undefined || follows(step)) setCall(step, key, { name: call.name, seq, waiting, ...flag })
  } else if (known === undefined) {
    const streamed = partial ? ({ streamed: true } as const) : {}
    if (follows(step)) setCall(step, key, { name: call.name, seq, ...flag, ...streamed })
  } else if (!partial) {
    if (known.streamed === undefined) {
      const sentence = `The call of ${quoted(call.name)} has the id ${quoted(key)} of an earlier call.`
      addProblem(step, 'call-repeated', sentence, { earlier: known.seq, call: key })
    }
    setCall(step, key, { name: call.name, seq, ...flag })
  }
  return key
}

function lintResponse(step: Step, response: AdkFunctionResponse): AnsweredCall | undefined {
  const { seq } = step.row
  const key = keyOf(response)
  const facts = key.startsWith('\n') ? {} : { call: key }
  const known = step.run.calls.get(key)
  const pending = step.session.pending.get(key)
  if (known?.waiting !== undefined && known.waiting > 0) {
    setCall(step, key, { ...known, waiting: known.waiting - 1 })
    return { key, before: known, pending: false }
  }
  if (known !== undefined && known.waiting === undefined) {
    if (known.answered !== undefined && known.longRunning === undefined) {
      const sentence = `The call ${quoted(key)} of ${quoted(response.name)} was answered before.`
      addProblem(step, 'answered-twice', sentence, { ...facts, earlier: known.answered })
    }
    setCall(step, key, { ...known, answered: seq })
    return { key, before: known, pending: false }
  }
  if (pending !== undefined) {
    answerPending(step, key, pending)
    return { key, before: pending, pending: true }
  }
  if (followsAll(step) && step.session.left <= mostIds) {
    const which = facts.call === undefined ? '' : ` ${quoted(key)}`
    // Some wires name only the call.
    const whose = response.name === '' ? '' : ` of ${quoted(response.name)}`
    addProblem(step, 'result-without-call', `The result${which}${whose} answers no call.`, facts)
  }
  return undefined
}

/** A long-running call may be answered again and again; the others once. */
function answerPending(step: Step, key: string, call: CallTrack): void {
  if (call.longRunning) return
  const waiting = (call.waiting ?? 1) - 1
  const { pending } = step.session
  const rest = waiting > 0 ? pending.set(key, { ...call, waiting }) : pending.delete(key)
  step.session.pending = rest
}

function setCall(step: Step, key: string, call: CallTrack): void {
  step.run.calls = step.run.calls.set(key, call)
}

function setMessage(step: Step, message: string, track: MessageTrack): void {
  step.run.messages = step.run.messages.set(message, track)
}
