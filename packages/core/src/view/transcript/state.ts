import type { Problem } from '../../event/problem.ts'
import type { Outcome } from '../../event/run-event.ts'
import { Dictionary } from '../../persistent/dictionary.ts'
import { Sequence } from '../../persistent/sequence.ts'
import type { Item, Message, ToolCard } from './item.ts'
import { type Lanes, noLanes } from './lane.ts'

/** The status of the newest run. */
export interface RunStatus {
  readonly run: string
  readonly agent: string
  readonly status: 'running' | Outcome
  readonly error?: Problem
}

export interface Transcript {
  /** Finished items, in the order in which they were finished: the same whether partials were kept or not. */
  readonly settled: Sequence<Item>
  /** The messages still streaming, oldest first. A token changes one of these and nothing else. */
  readonly open: readonly Message[]
  readonly latest?: RunStatus | undefined
  readonly index: TranscriptIndex
}

/** The place of a tool card: its item, and the part of that item. Whole parts never move. */
export interface CardPlace {
  readonly item: number
  readonly part: number
}
/** The calls of a run, newest first. */
interface Calls {
  readonly place: CardPlace
  readonly before: Calls | undefined
}
interface RunIndex {
  readonly agent: string
  readonly startedAt?: number
  readonly ended: boolean
  readonly calls: Calls | undefined
}

/** Positions by key. They are not part of the result, so `toJSON` leaves them out. */
export interface TranscriptIndex {
  /** Positions in `settled`; below 0 when the message was superseded. */
  readonly messages: Dictionary<number>
  readonly cards: Dictionary<CardPlace>
  /** Calls that came without an id, by name, oldest first; `next` is the first that has no answer. */
  readonly nameless: Dictionary<{ readonly next: number; readonly places: Sequence<CardPlace> }>
  readonly runs: Dictionary<RunIndex>
  readonly asked: Sequence<number>
  readonly questions: Dictionary<number>
  readonly lanes: Lanes
  toJSON(): undefined
}

export const emptyTranscript: Transcript = {
  settled: Sequence.empty,
  open: [],
  latest: undefined,
  index: {
    messages: Dictionary.empty,
    cards: Dictionary.empty,
    nameless: Dictionary.empty,
    runs: Dictionary.empty,
    asked: Sequence.empty,
    questions: Dictionary.empty,
    lanes: noLanes,
    toJSON: () => undefined,
  },
}

/** Ids are unique only within a run: models and scripts that count from 1 start again in the next run. */
export const transcriptKey = (run: string, id: string): string => `${run}\n${id}`
/** The key of the newest item with this id in any run: a response may come in a later run than its call. */
export const inSession = (id: string): string => `\0${id}`

/** The change of a token, field by field for the reason in item.ts. */
export function opened({ settled, latest, index }: Transcript, open: readonly Message[]): Transcript {
  return { settled, open, latest, index }
}

export function appended({ settled, open, latest, index }: Transcript, item: Item): Transcript {
  return { settled: settled.append(item), open, latest, index }
}

export function replacedAt({ settled, open, latest, index }: Transcript, position: number, item: Item): Transcript {
  return { settled: settled.with(position, item), open, latest, index }
}

export function withTranscriptIndex(
  { settled, open, latest, index }: Transcript,
  changed: Partial<TranscriptIndex>,
): Transcript {
  return {
    settled,
    open,
    latest,
    index: {
      messages: changed.messages ?? index.messages,
      cards: changed.cards ?? index.cards,
      nameless: changed.nameless ?? index.nameless,
      runs: changed.runs ?? index.runs,
      asked: changed.asked ?? index.asked,
      questions: changed.questions ?? index.questions,
      lanes: changed.lanes ?? index.lanes,
      toJSON: index.toJSON,
    },
  }
}

export function messageAdded(state: Transcript, message: Message): Transcript {
  const position = state.settled.length
  const messages = state.index.messages
    .set(transcriptKey(message.run, message.id), position)
    .set(inSession(message.id), position)
  return withTranscriptIndex(appended(state, message), { messages })
}

/** Records the places of a message's new cards, so that their responses find them. */
export function cardsPlaced(state: Transcript, run: string, item: number, from: number): Transcript {
  const message = state.settled.at(item)
  if (message?.kind !== 'message') return state
  let { cards, nameless, runs } = state.index
  for (let part = from; part < message.parts.length; part++) {
    const card = message.parts[part]
    if (card?.kind !== 'tool') continue
    const place = { item, part }
    if (card.call !== '') cards = cards.set(transcriptKey(run, card.call), place).set(inSession(card.call), place)
    else if (card.orphan !== true) {
      const queue = nameless.get(transcriptKey(run, card.name)) ?? { next: 0, places: Sequence.empty }
      nameless = nameless.set(transcriptKey(run, card.name), { ...queue, places: queue.places.append(place) })
    }
    const known = runs.get(run) ?? { agent: '', ended: false, calls: undefined }
    runs = runs.set(run, { ...known, calls: { place, before: known.calls } })
  }
  return cards === state.index.cards && nameless === state.index.nameless && runs === state.index.runs
    ? state
    : withTranscriptIndex(state, { cards, nameless, runs })
}

/** The second attempt of a step may use the ids of its calls again: the cards of the first one take no more responses. */
export function cardsForgotten(state: Transcript, run: string, item: number): Transcript {
  const message = state.settled.at(item)
  let { cards } = state.index
  for (const part of message?.kind === 'message' ? message.parts : []) {
    if (part.kind !== 'tool') continue
    for (const key of [transcriptKey(run, part.call), inSession(part.call)])
      if (cards.get(key)?.item === item) cards = cards.delete(key)
  }
  return cards === state.index.cards ? state : withTranscriptIndex(state, { cards })
}

export function cardAt(state: Transcript, { item, part }: CardPlace): ToolCard | undefined {
  const message = state.settled.at(item)
  const card = message?.kind === 'message' ? message.parts[part] : undefined
  return card?.kind === 'tool' ? card : undefined
}

export function cardReplaced(state: Transcript, { item, part }: CardPlace, card: ToolCard): Transcript {
  const message = state.settled.at(item)
  if (message?.kind !== 'message') return state
  return replacedAt(state, item, { ...message, parts: message.parts.with(part, card) })
}
