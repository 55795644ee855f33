import type { AdkEvent } from '../../event/adk-event.ts'
import { transferOf } from '../../event/adk-rules.ts'
import { branchOf, inferredPath, isBelow, mostSpeakers, parentBranch } from '../../event/branch.ts'
import { callOf, partsOf, responseOf } from '../../event/parts.ts'
import type { Problem } from '../../event/problem.ts'
import type { Recorded } from '../../event/run-event.ts'
import {
  type Cause,
  type SpeakingAgent,
  type Timeline,
  timelineKey,
  trackOf,
  type Via,
  withTimelineIndex,
} from './state.ts'
import { beginExecution, type End, endExecution, type Watcher, wrote } from './track.ts'

/**
 * Executions for a log without nodes, such as a plain ADK stream: one per stretch in which one author speaks on one
 * branch. Only whole events count, so that the result is the same after a prune. An execution begins at the event that led
 * to it, not at its own first text: the agent started then, and the wait for its model is part of the execution.
 */
export function infer(
  line: Timeline,
  row: Recorded,
  event: AdkEvent,
  keys: readonly string[],
  watcher?: Watcher,
): Timeline {
  const branch = branchOf(event)
  const entered = enter(line, row, event.author, branch, watcher)
  const { speakers } = trackOf(entered, row)
  const at = speakers.findLastIndex((each) => each.branch === branch && each.author === event.author)
  const speaker = speakers[at]
  if (speaker === undefined) return entered
  const state = entered.index.state
  const next = { ...speaker, ...heard(speaker, event), seq: row.seq, at: row.at, state }
  return wrote(withSpeakers(entered, row, speakers.with(at, next)), speaker.position, keys)
}

/** Ends the executions of speakers whose turn is over, each at its own last event. The last to begin ends first. */
export function leave(
  line: Timeline,
  row: Recorded,
  ends: readonly SpeakingAgent[],
  watcher?: Watcher,
  how: (speaker: SpeakingAgent) => Partial<End> = () => ({}),
): Timeline {
  if (ends.length === 0) return line
  let next = line
  for (const speaker of ends.toReversed()) if (!speaker.over) next = spokeLast(next, speaker, how(speaker), watcher)
  const gone = new Set(ends.map(({ position }) => position))
  const { speakers } = trackOf(next, row)
  return withSpeakers(
    next,
    row,
    speakers.filter(({ position }) => !gone.has(position)),
  )
}

function heard(speaker: SpeakingAgent, event: AdkEvent): Partial<SpeakingAgent> {
  let { waiting } = speaker
  for (const part of partsOf(event.content)) {
    if (callOf(part) !== undefined) waiting += 1
    else if (responseOf(part) !== undefined) waiting = Math.max(0, waiting - 1)
  }
  const transfer = transferOf(event)
  const error = problemOf(event)
  return { waiting, ...(transfer === undefined ? {} : { transfer }), ...(error === undefined ? {} : { error }) }
}

function problemOf({ errorCode, errorMessage }: AdkEvent): Problem | undefined {
  if (typeof errorCode !== 'string' && typeof errorMessage !== 'string') return undefined
  const source = typeof errorCode === 'string' ? { source: errorCode } : {}
  return { code: 'model-error', message: String(errorMessage ?? errorCode), ...source }
}

/** Makes the author the speaker on the branch, ending those whose turn that ends. */
function enter(line: Timeline, row: Recorded, author: string, branch: string, watcher?: Watcher): Timeline {
  const { speakers } = trackOf(line, row)
  const top = speakers.findLastIndex((each) => each.branch === branch)
  const mine = speakers.findLastIndex(
    (each, i) => each.branch === branch && each.author === author && !each.over && (i === top || each.waiting > 0),
  )
  if (mine >= 0) {
    const done = speakers.filter((each, i) => isBelow(each.branch, branch) || (i > mine && each.branch === branch))
    return leave(line, row, done, watcher)
  }
  const { cause, ends, over } = causeOf(line, row, author, branch)
  const left = leave(line, row, ends, watcher)
  const kept = over === undefined || over.over ? left : endedAndKept(left, row, over, watcher)
  return open(kept, row, author, branch, cause, watcher)
}

/** `ends` are speakers whose turn is over; `over` ends too, but others may still come after it. */
interface Led {
  readonly cause: Cause
  readonly ends: readonly SpeakingAgent[]
  readonly over?: SpeakingAgent
}

function causeOf(line: Timeline, row: Recorded, author: string, branch: string): Led {
  const { speakers, startSeq, startedAt, startState } = trackOf(line, row)
  const top = speakers.findLast((each) => each.branch === branch)
  const below = speakers.filter((each) => isBelow(each.branch, branch))
  if (top !== undefined && !top.over && top.waiting > 0) {
    const cause = { ...after([top, ...below], 'delegate'), parent: top.node, after: below.map(({ node }) => node) }
    return { cause, ends: below }
  }
  if (top !== undefined) {
    const led = below.length > 0 ? below : [top]
    return { cause: after(led, hop(led, author), top.cause), ends: [top, ...below] }
  }
  // The main conversation encloses every other branch and never runs beside one.
  const isBeside = (each: SpeakingAgent): boolean =>
    each.branch !== '' && parentBranch(each.branch) === parentBranch(branch)
  const beside = branch === '' ? undefined : speakers.findLast(isBeside)
  if (beside !== undefined) return { cause: beside.cause, ends: [] }
  const over = nearestAbove(speakers, branch)
  if (over === undefined) {
    const first = { via: 'start', after: [], startSeq, startedAt, input: startState } as const
    return { cause: speakers.length === 0 ? first : after(speakers, 'sequence'), ends: speakers }
  }
  if (!over.over && over.waiting > 0) {
    return { cause: { ...after([over], 'delegate'), parent: over.node, after: [] }, ends: [] }
  }
  return { cause: after([over], hop([over], author), over.cause), ends: [], over }
}

/** Comes after these, when the last of them had spoken; inside what `beside` is inside of. */
function after(led: readonly SpeakingAgent[], via: Via, beside?: Cause): Cause {
  const last = led.reduce((newest, each) => (each.seq > newest.seq ? each : newest))
  return {
    via,
    after: led.map(({ node }) => node),
    startSeq: last.seq,
    startedAt: last.at,
    input: last.state,
    ...(beside?.parent === undefined ? {} : { parent: beside.parent }),
  }
}

function hop(led: readonly SpeakingAgent[], author: string): Via {
  return led.length === 1 && led[0]?.transfer === author ? 'transfer' : 'sequence'
}

function open(
  line: Timeline,
  row: Recorded,
  author: string,
  branch: string,
  cause: Cause,
  watcher?: Watcher,
): Timeline {
  const path = inferredPath(branch, author)
  const counter = timelineKey(row.run, path)
  const count = (line.index.counts.get(counter) ?? 0) + 1
  const node = `${path}@${count}`
  const position = line.executions.length
  const counted = withTimelineIndex(line, { counts: line.index.counts.set(counter, count) })
  const begun = beginExecution(counted, row, { node, agent: author, inferred: true, ...cause }, watcher)
  const { speakers } = trackOf(begun, row)
  const room = speakers.length < mostSpeakers ? begun : leave(begun, row, speakers.slice(0, 1), watcher)
  const { seq, at } = row
  const speaker: SpeakingAgent = {
    branch,
    author,
    node,
    position,
    cause,
    waiting: 0,
    over: false,
    seq,
    at,
    state: cause.input,
  }
  const starting = room.starting.filter(
    (each) => !(each.run === row.run && each.agent === author && each.branch === branch),
  )
  const next = withSpeakers(room, row, [...trackOf(room, row).speakers, speaker])
  return starting.length === room.starting.length ? next : { ...next, starting }
}

function endedAndKept(line: Timeline, row: Recorded, speaker: SpeakingAgent, watcher?: Watcher): Timeline {
  const { speakers } = trackOf(line, row)
  const marked = speakers.map((each) => (each.position === speaker.position ? { ...each, over: true } : each))
  return withSpeakers(spokeLast(line, speaker, {}, watcher), row, marked)
}

function spokeLast(line: Timeline, speaker: SpeakingAgent, how: Partial<End>, watcher?: Watcher): Timeline {
  const { position, seq, at, state, error } = speaker
  const status = error === undefined ? { status: 'ok' as const } : { status: 'error' as const, error }
  return endExecution(line, position, { ...status, endSeq: seq, endedAt: at, output: state, ...how }, watcher)
}

function withSpeakers(line: Timeline, row: Recorded, speakers: readonly SpeakingAgent[]): Timeline {
  return withTimelineIndex(line, { runs: line.index.runs.set(row.run, { ...trackOf(line, row), speakers }) })
}

function nearestAbove(speakers: readonly SpeakingAgent[], branch: string): SpeakingAgent | undefined {
  for (let at = branch; at !== ''; ) {
    at = parentBranch(at)
    const found = speakers.findLast((each) => each.branch === at)
    if (found !== undefined) return found
  }
  return undefined
}
