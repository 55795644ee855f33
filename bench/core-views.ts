import {
  type AdkEvent,
  fold,
  type Recorded,
  type SessionEvents,
  selectAgentTransitions,
  selectDerivedMessages,
  selectLatestAgentStatus,
  selectThoughtProcesses,
  type View,
  views,
} from '@millrace/core'
import { documentedSelectors } from './kit/documented-selectors.ts'
import { best, heapOf, timed } from './kit/measure.ts'
import { median, type Row, sideBySide } from './kit/row.ts'
import { session } from './kit/session.ts'

const all: readonly View<unknown>[] = Object.values(views)

/** What all views cost, against the selectors of the chat front-end document as it writes them. */
export async function bench(): Promise<Row[]> {
  const short = session(1000)
  const long = session(100_000)
  const raw = rawEvents(short)
  return [scratch(short, raw), memory(short, raw), growth(short, long), live(short, raw), selectors(raw)]
}

function scratch(rows: readonly Recorded[], raw: readonly AdkEvent[]): Row {
  const ours = best(() => foldAll(rows))
  const peer = best(() => documentedSelectors(raw))
  return {
    what: `all ${all.length} views, 1,000 events from scratch, ms`,
    ours,
    peer: 'the documented four selectors, once',
    peerValue: peer,
    limit: 'reading each event once',
    ratio: ours / peer,
    bar: '<= 5 ms',
    ok: ours <= 5,
  }
}

function memory(rows: readonly Recorded[], raw: readonly AdkEvent[]): Row {
  const ours = heapOf(() => foldAll(rows))
  const peer = heapOf(() => documentedSelectors(raw))
  return {
    what: `all ${all.length} views, what they keep of 1,000 events beside the events, MB`,
    ours,
    peer: 'the documented four selectors',
    peerValue: peer,
    limit: 'the text itself',
    ratio: ours / peer,
    bar: '<= 2 MB',
    ok: ours <= 2,
  }
}

/** One event of 100,000 against one of 1,000: ours must not grow; the documented selectors derive everything again for each event. */
function growth(short: readonly Recorded[], long: readonly Recorded[]): Row {
  const times = long.length / short.length
  const { ours, peer, ratio } = sideBySide(
    () => foldAll(long),
    () => {
      for (let i = 0; i < times; i++) foldAll(short)
    },
    5,
  )
  const perEvent = (milliseconds: number): number => (milliseconds * 1000) / long.length
  return {
    what: `all ${all.length} views, us per event at 100,000 events`,
    ours: perEvent(ours),
    peer: 'ours at 1,000 events',
    peerValue: perEvent(peer),
    limit: 'no growth, 1.0x',
    ratio,
    bar: '<= 2',
    ok: ratio <= 2,
  }
}

function live(rows: readonly Recorded[], raw: readonly AdkEvent[]): Row {
  const ours = median(
    Array.from({ length: 9 }, () =>
      timed(() => {
        let states = all.map((view) => view.initial)
        for (const row of rows) states = states.map((state, i) => all[i]?.apply(state, row))
      }),
    ),
  )
  const peer = median(
    Array.from({ length: 3 }, () =>
      timed(() => {
        for (let i = 1; i <= raw.length; i++) documentedSelectors(raw.slice(0, i))
      }),
    ),
  )
  return {
    what: `all ${all.length} views, 1,000 events as they stream, shown after each, ms`,
    ours,
    peer: 'the documented four selectors after each event',
    peerValue: peer,
    limit: 'reading each event once',
    ratio: ours / peer,
    bar: '<= 0.1',
    ok: ours / peer <= 0.1,
  }
}

function selectors(raw: readonly AdkEvent[]): Row {
  const select = (events: readonly AdkEvent[]): void => {
    const chat: SessionEvents = { id: 's', rawEvents: events }
    selectDerivedMessages(chat)
    selectThoughtProcesses(chat)
    selectAgentTransitions(chat)
    selectLatestAgentStatus(chat)
  }
  const fresh = Array.from({ length: 9 }, () => structuredClone(raw))
  const ours = median(
    fresh.map((events) =>
      timed(() => {
        for (let i = 1; i <= events.length; i++) select(events.slice(0, i))
      }),
    ),
  )
  const peer = median(
    Array.from({ length: 3 }, () =>
      timed(() => {
        for (let i = 1; i <= raw.length; i++) documentedSelectors(raw.slice(0, i))
      }),
    ),
  )
  return {
    what: 'the four selectors by name, 1,000 events as they stream, asked after each, ms',
    ours,
    peer: 'the documented ones',
    peerValue: peer,
    limit: 'reading each event once',
    ratio: ours / peer,
    bar: '<= 0.1',
    ok: ours / peer <= 0.1,
  }
}

function foldAll(rows: readonly Recorded[]): unknown[] {
  return all.map((view) => fold(view, rows))
}

function rawEvents(rows: readonly Recorded[]): readonly AdkEvent[] {
  return rows.flatMap(({ event }) => (event.kind === 'agent' ? [event.event] : []))
}
