import type { AdkFunctionCall } from '../../event/adk-event.ts'
import { isErrorEvent, transferOf } from '../../event/adk-rules.ts'
import { partsOf, responseOf } from '../../event/parts.ts'
import { replacedRows } from '../../event/replaced-runs.ts'
import type { AgentSaid, Recorded, RunFinished, RunStarted, Superseded } from '../../event/run-event.ts'
import { isPartial } from '../../event/streaming.ts'
import type { View } from '../view.ts'
import { asked, questionAnswered, toolRan, toolsAnswered } from './answer.ts'
import type { Asked, Item, Message, Part, ToolCard } from './item.ts'
import { type Block, blocksOf, laneFinished, laneStarted } from './lane.ts'
import { assembled, begun, completed, given, streamed } from './message.ts'
import {
  appended,
  cardAt,
  cardReplaced,
  cardsForgotten,
  cardsPlaced,
  emptyTranscript,
  inSession,
  messageAdded,
  opened,
  replacedAt,
  type Transcript,
  transcriptKey,
  withTranscriptIndex,
} from './state.ts'
import { called, idOf } from './tool.ts'

/** At most this many messages stream at once; beyond it the oldest is settled as it is. This bounds the cost of a token. */
const mostOpen = 256

/**
 * The conversation: messages by author, with their tools. Partials stream and the aggregate replaces them, so that text is
 * never doubled; a partial function call makes no tool card.
 */
export const transcriptView: View<Transcript> = {
  name: 'transcript',
  initial: emptyTranscript,
  apply(state, row) {
    const { event, run, seq, at } = row
    switch (event.kind) {
      case 'agent':
        return isPartial(event.event) ? stream(state, row, event) : complete(state, row, event)
      case 'run.started':
        return start(state, row, event)
      case 'run.finished':
        return finish(state, row, event)
      case 'node.started':
        return withTranscriptIndex(state, { lanes: laneStarted(state.index.lanes, run, event) })
      case 'node.finished': {
        const lanes = laneFinished(state.index.lanes, run, event)
        return lanes === state.index.lanes ? state : withTranscriptIndex(state, { lanes })
      }
      case 'superseded':
        return supersede(state, row, event)
      case 'interrupt':
        return asked(state, row, event)
      case 'resumed':
        return questionAnswered(state, event, at)
      case 'log':
      case 'foreign': {
        const { extra: _wire, ...fact } = event
        return appended(state, { ...fact, key: `${event.kind} ${seq}`, run, seq, at })
      }
      case 'artifact': {
        const { part: _content, extra: _wire, ...saved } = event
        return appended(state, { ...saved, key: `artifact ${seq}`, run, seq, at })
      }
      case 'changed': {
        const { extra: _wire, ...change } = event
        return appended(state, { ...change, key: `changed ${seq}`, run, seq, at })
      }
      case 'tool.finished':
        return toolRan(state, row, event)
      case 'model.started':
      case 'model.finished':
      case 'state':
      case 'tasks':
      case 'tasks.changed':
      case 'task.started':
      case 'task.finished':
      case 'task.reflected':
      case 'data':
      case 'feedback':
        return state
    }
  },
}

/** The whole conversation: the settled items, then the messages that still stream. */
export function itemsOf({ settled, open }: Pick<Transcript, 'settled' | 'open'>): readonly Item[] {
  return open.length === 0 ? settled.toArray() : [...settled.toArray(), ...open]
}

/** The conversation in blocks, agents that ran at the same time side by side. */
export function blocks(state: Transcript): readonly Block[] {
  return blocksOf(itemsOf(state), state.index.lanes)
}

/** The questions that still wait for a person. */
export function openInterrupts({ settled, index }: Transcript): readonly Asked[] {
  return index.asked.toArray().flatMap((position) => {
    const item = settled.at(position)
    return item?.kind === 'interrupt' && item.status === 'open' ? [item] : []
  })
}

function stream(state: Transcript, row: Recorded, said: AgentSaid): Transcript {
  const deltas = partsOf(said.event.content)
  const at = openAt(state, row.run, said.message)
  const before = state.open[at]
  if (before !== undefined) {
    const after = streamed(before, deltas)
    return after === before ? state : opened(state, state.open.with(at, after))
  }
  const position = state.index.messages.get(transcriptKey(row.run, said.message)) ?? -1
  const settled = position < 0 ? undefined : state.settled.at(position)
  if (settled?.kind === 'message') {
    const after = streamed(settled, deltas)
    return after === settled ? state : replacedAt(state, position, after)
  }
  const fresh = begun(row, said, keyOf(state, row.run, said.message))
  const after = streamed(fresh, deltas)
  if (after === fresh) return state
  const room = state.open.length < mostOpen ? state : settledAt(state, 0, {})
  return { ...room, open: [...room.open, after] }
}

/** A whole event: responses go to the cards of their calls, the other parts to its message, and it may transfer control. */
function complete(state: Transcript, row: Recorded, said: AgentSaid): Transcript {
  const { event } = said
  const parts = partsOf(event.content)
  const responses = parts.flatMap((part) => responseOf(part) ?? [])
  const { state: next, orphans } = toolsAnswered(state, row, responses, said.message)
  const own = assembled(parts, cardMaker(next, row, said.message, event.longRunningToolIds))
  return transferred(spoke(next, row, said, [...own, ...orphans]), row, said)
}

/** A card for each call that has none yet. */
function cardMaker(state: Transcript, row: Recorded, message: string, long?: unknown) {
  return (call: AdkFunctionCall, i: number): ToolCard | undefined => {
    const id = idOf(call)
    if (id === '') return called(call, `${message}#${row.seq}.${i}`, row, false)
    if (state.index.cards.get(transcriptKey(row.run, id)) !== undefined) return undefined
    return called(call, id, row, Array.isArray(long) && long.includes(id))
  }
}

function spoke(state: Transcript, row: Recorded, said: AgentSaid, parts: readonly Part[]): Transcript {
  const { event, message } = said
  const at = openAt(state, row.run, message)
  const position = state.index.messages.get(transcriptKey(row.run, message)) ?? -1
  const before = state.open[at] ?? (position < 0 ? undefined : state.settled.at(position))
  if (before?.kind === 'message') {
    const after = completed(before, parts, row, event)
    const closed = at < 0 ? replacedAt(state, position, after) : messageAdded(without(state, at), after)
    return cardsPlaced(closed, row.run, at < 0 ? position : state.settled.length, before.whole)
  }
  if (parts.length === 0 && !isErrorEvent(event)) return state
  const after = completed(begun(row, said, keyOf(state, row.run, message)), parts, row, event)
  return cardsPlaced(messageAdded(state, after), row.run, state.settled.length, 0)
}

function transferred(state: Transcript, { run, seq, at }: Recorded, { event, node }: AgentSaid): Transcript {
  const to = transferOf(event)
  if (to === undefined) return state
  const { author: from, branch } = event
  const where = { ...(node === undefined ? {} : { node }), ...(branch === undefined ? {} : { branch }) }
  return appended(state, { kind: 'transfer', key: `transfer ${seq}`, run, seq, at, ...where, from, to })
}

function start(before: Transcript, row: Recorded, started: RunStarted): Transcript {
  const { agent, input, parent, forkOf } = started
  const { run, seq, at } = row
  let state = before
  for (const lost of replacedRows(row, started)) state = supersede(state, lost, lost.event)
  const item: Item = {
    kind: 'start',
    key: `start ${seq}`,
    run,
    seq,
    at,
    agent,
    ...(parent === undefined ? {} : { parent }),
    ...(forkOf === undefined ? {} : { forkOf }),
  }
  const runs = state.index.runs.set(run, { agent, startedAt: at, ended: false, calls: undefined })
  let next = withTranscriptIndex({ ...appended(state, item), latest: { run, agent, status: 'running' } }, { runs })
  for (const [i, message] of input.messages.entries()) {
    const responses = partsOf(message.content).flatMap((part) => responseOf(part) ?? [])
    const { state: answeredState, orphans } = toolsAnswered(next, row, responses, message.id)
    next = answeredState
    // Clients send their whole history again: a message that is here already is not added twice.
    if (message.id !== '' && (next.index.messages.get(inSession(message.id)) ?? -1) >= 0) continue
    const key = message.id === '' ? `${run}/#${seq}.${i}` : keyOf(next, run, message.id)
    const own = assembled(partsOf(message.content), cardMaker(next, row, message.id))
    if (own.length + orphans.length === 0) continue
    const position = next.settled.length
    next = messageAdded(next, given(row, message, [...own, ...orphans], key, agent))
    next = cardsPlaced(next, run, position, 0)
  }
  for (const answer of input.resume ?? []) next = questionAnswered(next, answer, at)
  return next
}

function finish(state: Transcript, row: Recorded, { outcome, error }: RunFinished): Transcript {
  const { run, seq, at } = row
  const known = state.index.runs.get(run) ?? { agent: '', ended: false, calls: undefined }
  if (known.ended) return state
  let next = state
  while (next.open.some((message) => message.run === run)) {
    const position = next.open.findIndex((message) => message.run === run)
    next = settledAt(next, position, { status: outcome === 'done' ? 'done' : 'cut', endSeq: seq, endedAt: at })
  }
  if (outcome === 'failed' || outcome === 'cancelled') {
    for (let calls = known.calls; calls !== undefined; calls = calls.before) {
      const card = cardAt(next, calls.place)
      if (card?.status === 'pending') next = cardReplaced(next, calls.place, { ...card, status: 'cut' })
    }
  }
  const why = error === undefined ? {} : { error }
  const took = known.startedAt === undefined ? {} : { duration: at - known.startedAt }
  const ended = appended(next, { kind: 'end', key: `end ${seq}`, run, seq, at, outcome, ...why, ...took })
  const latest = state.latest === undefined || state.latest.run === run
  return withTranscriptIndex(
    latest ? { ...ended, latest: { run, agent: known.agent, status: outcome, ...why } } : ended,
    {
      runs: next.index.runs.set(run, { ...known, ended: true, calls: undefined }),
    },
  )
}

/** Messages of an interrupted step stay, marked; the same id in the second attempt is a new message. */
function supersede(state: Transcript, { run, seq }: Recorded, event: Superseded): Transcript {
  let next = state
  for (const id of event.messages) {
    const at = openAt(next, run, id)
    if (at >= 0) next = settledAt(next, at, { status: 'cut' })
    const position = next.index.messages.get(transcriptKey(run, id)) ?? -1
    const message = position < 0 ? undefined : next.settled.at(position)
    if (message?.kind !== 'message') continue
    const messages = next.index.messages.set(transcriptKey(run, id), -seq).set(inSession(id), -seq)
    const marked = replacedAt(next, position, { ...message, superseded: true })
    next = withTranscriptIndex(cardsForgotten(marked, run, position), { messages })
  }
  return event.facts === true ? withoutArtifacts(next, run, new Set(event.nodes)) : next
}

/** Artifacts that the nodes saved stay, marked. Only the items of the run are looked at, from the last one back. */
function withoutArtifacts(state: Transcript, run: string, nodes: ReadonlySet<string>): Transcript {
  let next = state
  for (let position = state.settled.length - 1; position >= 0; position--) {
    const item = state.settled.at(position)
    if (item === undefined || (item.kind === 'start' && item.run === run)) break
    if (item.kind !== 'artifact' || item.run !== run || item.node === undefined || !nodes.has(item.node)) continue
    next = replacedAt(next, position, { ...item, superseded: true })
  }
  return next
}

/** Moves an open message to the settled items. */
function settledAt(state: Transcript, at: number, changed: Partial<Message>): Transcript {
  const message = state.open[at]
  return message === undefined ? state : messageAdded(without(state, at), { ...message, ...changed })
}

function without(state: Transcript, at: number): Transcript {
  return { ...state, open: state.open.toSpliced(at, 1) }
}

function openAt({ open }: Transcript, run: string, id: string): number {
  for (let i = open.length - 1; i >= 0; i--) if (open[i]?.id === id && open[i]?.run === run) return i
  return -1
}

function keyOf(state: Transcript, run: string, id: string): string {
  const gone = state.index.messages.get(transcriptKey(run, id)) ?? 0
  return gone < 0 ? `${run}/${id}~${-gone}` : `${run}/${id}`
}
