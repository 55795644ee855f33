import type { AdkFunctionResponse } from '../../event/adk-event.ts'
import type { ToolFinished } from '../../event/call-record.ts'
import type { Interrupted, Recorded, ResumeAnswer, RunEvent } from '../../event/run-event.ts'
import type { Json } from '../../json/json.ts'
import type { Item, ToolCard } from './item.ts'
import {
  appended,
  type CardPlace,
  cardAt,
  cardReplaced,
  inSession,
  replacedAt,
  type Transcript,
  transcriptKey,
  withTranscriptIndex,
} from './state.ts'
import { answered, idOf, orphan } from './tool.ts'

/** Adds each response to the card of its call. A response without a call is returned as an orphan card. */
export function toolsAnswered(
  state: Transcript,
  row: Recorded,
  responses: readonly AdkFunctionResponse[],
  message: string,
): { readonly state: Transcript; readonly orphans: readonly ToolCard[] } {
  const orphans: ToolCard[] = []
  let next = state
  for (const [i, response] of responses.entries()) {
    const found = placeOf(next, row.run, response)
    const card = found.place === undefined ? undefined : cardAt(found.state, found.place)
    next = found.state
    if (found.place === undefined || card === undefined) {
      orphans.push(orphan(response, idOf(response) || `${message}#${row.seq}.${i}`, row))
      continue
    }
    next = cardReplaced(next, found.place, answered(card, response, row))
    next = callSettled(next, row, card.call, response.response)
  }
  return { state: next, orphans }
}

/** The tool has run, and its answer follows: parallel tools are answered together, but each took its own time. */
export function toolRan(state: Transcript, { run }: Recorded, { call, duration }: ToolFinished): Transcript {
  const place = state.index.cards.get(transcriptKey(run, call))
  const card = place === undefined ? undefined : cardAt(state, place)
  if (place === undefined || card?.status !== 'pending' || card.duration === duration) return state
  return cardReplaced(state, place, { ...card, duration })
}

/** By id, in this run or any earlier one; without an id, the oldest open call of that name. */
function placeOf(
  state: Transcript,
  run: string,
  response: AdkFunctionResponse,
): { readonly state: Transcript; readonly place: CardPlace | undefined } {
  const { cards, nameless } = state.index
  const id = idOf(response)
  if (id !== '') return { state, place: cards.get(transcriptKey(run, id)) ?? cards.get(inSession(id)) }
  const key = transcriptKey(run, response.name)
  const queue = nameless.get(key)
  const place = queue?.places.at(queue.next)
  if (queue === undefined || place === undefined) return { state, place: undefined }
  const popped = nameless.set(key, { ...queue, next: queue.next + 1 })
  return { state: withTranscriptIndex(state, { nameless: popped }), place }
}

export function asked(state: Transcript, row: Recorded, said: Interrupted & Pick<RunEvent, 'extra'>): Transcript {
  const { extra: _wire, ...event } = said
  const position = state.settled.length
  const { run, seq, at } = row
  const item: Item = { ...event, key: `interrupt ${seq}`, run, seq, at, status: 'open' }
  const { questions } = state.index
  const byId = questions.set(inSession(event.id), position)
  return withTranscriptIndex(appended(state, item), {
    asked: state.index.asked.append(position),
    questions: event.call === undefined ? byId : byId.set(transcriptKey('call', event.call), position),
  })
}

export function questionAnswered(state: Transcript, answer: ResumeAnswer, at: number): Transcript {
  return closed(state, state.index.questions.get(inSession(answer.interrupt)), answer.status, answer.payload, at)
}

/**
 * A question about a call is answered by the result of the call, if that comes in a later run. A result in the same run is
 * a long-running tool's first response ("pending"), not a person's answer.
 */
function callSettled(state: Transcript, row: Recorded, call: string, payload: Json | undefined): Transcript {
  const position = state.index.questions.get(transcriptKey('call', call))
  const item = position === undefined ? undefined : state.settled.at(position)
  return item === undefined || item.run === row.run ? state : closed(state, position, 'resolved', payload, row.at)
}

function closed(
  state: Transcript,
  position: number | undefined,
  status: ResumeAnswer['status'],
  payload: Json | undefined,
  at: number,
): Transcript {
  const item = position === undefined ? undefined : state.settled.at(position)
  if (position === undefined || item?.kind !== 'interrupt' || item.status !== 'open') return state
  const answer = payload === undefined ? {} : { answer: payload }
  return replacedAt(state, position, { ...item, status, answeredAt: at, ...answer })
}
