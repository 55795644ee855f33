import type { AdkEvent } from '../../event/adk-event.ts'
import { partsOf, responseOf, textOf } from '../../event/parts.ts'
import type { AgentSaid, Recorded, RunFinished, Usage } from '../../event/run-event.ts'
import { Dictionary } from '../../persistent/dictionary.ts'
import { Sequence } from '../../persistent/sequence.ts'
import type { View } from '../view.ts'
import { added, adkUsageOf, type FirstToken, waited } from './count.ts'

export interface AgentUsage {
  readonly agent: string
  readonly usage: Usage
  /** Between the start of a model call and its first token. Measured on partials: absent where none were kept. */
  readonly firstToken?: FirstToken
}
export interface RunUsage {
  readonly run: string
  readonly agent: string
  readonly usage: Usage
  readonly startedAt: number
  readonly duration?: number
  /** Milliseconds from the start of the run to its first token, by whichever agent. As above. */
  readonly firstToken?: number
}
export interface UsageReport {
  readonly total: Usage
  readonly firstToken?: FirstToken | undefined
  /** In the order in which they were first heard, be it by a partial. */
  readonly agents: Sequence<AgentUsage>
  readonly runs: Sequence<RunUsage>
  readonly index: UsageIndex
}

/** The model call that a lane (an author on a node or branch of a run) is in. */
interface ModelCall {
  readonly agent: string
  /** The last whole message of the call, what the call was counted with, and whether a tool answered since. */
  readonly message?: string
  readonly counted?: Usage
  readonly answered: boolean
  /** When the model was, or will be, asked. */
  readonly since: number
}
/** A message that has begun to stream, what its partials told, and whether it came whole. */
interface StreamedMessageUsage {
  readonly agent: string
  readonly told?: Usage
  readonly whole: boolean
}
interface Keys {
  readonly key: string
  readonly before: Keys | undefined
}
interface UsageIndex {
  readonly places: Dictionary<number>
  readonly lanes: Dictionary<ModelCall>
  readonly halves: Dictionary<StreamedMessageUsage>
  /** The messages that began to stream last: their further tokens are told from the first without a look-up. */
  readonly recent: readonly { readonly run: string; readonly message: string }[]
  /** The messages that streamed in a run, and when anything in it was last whole. */
  readonly open: Dictionary<{ readonly halves: Keys | undefined; readonly at: number }>
  readonly nodes: Dictionary<number>
  toJSON(): undefined
}

/**
 * Tokens, model calls and waits, by agent and by run. A call's usage is told on its partials, on its
 * aggregate, and again on the events that split off it: it counts once, as the last whole event of the call tells it.
 */
export const usageView: View<UsageReport> = {
  name: 'usage',
  dependsOnPartials: true,
  initial: {
    total: {},
    agents: Sequence.empty,
    runs: Sequence.empty,
    index: {
      places: Dictionary.empty,
      lanes: Dictionary.empty,
      halves: Dictionary.empty,
      recent: [],
      open: Dictionary.empty,
      nodes: Dictionary.empty,
      toJSON: () => undefined,
    },
  },
  apply(state, row) {
    const { event, run, at } = row
    switch (event.kind) {
      case 'agent':
        if (event.event.author === 'user') return state
        return event.event.partial === true ? streamed(state, row, event) : whole(state, row, event)
      case 'run.started':
        return runStarted(state, row, event.agent)
      case 'run.finished':
        return runFinished(state, row, event)
      case 'node.started':
        return reindexed(state, { nodes: state.index.nodes.set(inRun(run, event.node), at) })
      default:
        return state
    }
  },
}

function streamed(state: UsageReport, row: Recorded, said: AgentSaid): UsageReport {
  const { event, message } = said
  if (event.usageMetadata === undefined && isRecent(state, row.run, message)) return state
  const key = inRun(row.run, message)
  const known = state.index.halves.get(key)
  const told = adkUsageOf(event.usageMetadata)
  if (known !== undefined ? told === undefined : !partsOf(event.content).some((part) => textOf(part) !== ''))
    return state
  const half: StreamedMessageUsage = {
    agent: event.author,
    whole: false,
    ...known,
    ...(told === undefined ? {} : { told }),
  }
  const noted = reindexed(state, { halves: state.index.halves.set(key, half) })
  if (known !== undefined) return noted
  const { halves, at } = openAt(state, row)
  const listed = reindexed(noted, {
    open: state.index.open.set(row.run, { halves: { key, before: halves }, at }),
    recent: [...state.index.recent.slice(1 - mostRecent), { run: row.run, message }],
  })
  return firstToken(listed, row, laneOf(state, row, said))
}

function whole(state: UsageReport, row: Recorded, said: AgentSaid): UsageReport {
  const { event, message } = said
  const parts = partsOf(event.content)
  const answers = parts.some((part) => responseOf(part) !== undefined)
  const told = adkUsageOf(event.usageMetadata)
  const spoken = hasError(event) || parts.some((part) => responseOf(part) === undefined)
  const next = heardWhole(state, row, message)
  const lane = laneOf(state, row, said)
  if (told === undefined && (answers || !spoken)) {
    return withLane(next, row, said, { ...lane, answered: answers || lane.answered, since: row.at })
  }
  const goesOn = continues(lane, event, message, told)
  const counted = told ?? (goesOn ? lane.counted : undefined)
  const less: Usage | undefined = goesOn ? { ...lane.counted, modelCalls: 1 } : undefined
  const after: ModelCall = {
    agent: lane.agent,
    message,
    ...(counted === undefined ? {} : { counted }),
    answered: answers,
    since: row.at,
  }
  return withLane(spent(next, row.run, lane.agent, { ...counted, modelCalls: 1 }, less), row, said, after)
}

function heardWhole(state: UsageReport, row: Recorded, message: string): UsageReport {
  const key = inRun(row.run, message)
  const half = state.index.halves.get(key)
  if (half === undefined || half.whole) return state
  return reindexed(state, { halves: state.index.halves.set(key, { ...half, whole: true }) })
}

/**
 * Whether a whole event belongs to the model call before it. One call may give several: its text, then each of its
 * function calls, then an empty end, with tools answering in between. They repeat the same prompt count; the next call
 * has a longer prompt, because it contains what was just said.
 */
function continues(lane: ModelCall, event: AdkEvent, message: string, told: Usage | undefined): boolean {
  if (lane.message === undefined) return false
  if (lane.message === message) return true
  if (partsOf(event.content).some((part) => textOf(part) !== '')) return false
  const was = lane.counted?.inputTokens
  const is = told?.inputTokens
  if (was !== undefined && is !== undefined) return was === is
  return !lane.answered
}

function runStarted(state: UsageReport, { run, at }: Recorded, agent: string): UsageReport {
  const place = `run ${run}`
  const made: RunUsage = { run, agent, usage: {}, startedAt: at }
  const noted = reindexed(state, { open: state.index.open.set(run, { halves: undefined, at }) })
  if (state.index.places.get(place) !== undefined) return noted
  const places = state.index.places.set(place, state.runs.length)
  return reindexed({ ...noted, runs: state.runs.append(made) }, { places })
}

/** What never became whole was asked for all the same. And where events told nothing, the run's own sum stands in. */
function runFinished(state: UsageReport, row: Recorded, { usage: sum }: RunFinished): UsageReport {
  const { run, at } = row
  let next = state
  for (let keys = openAt(state, row).halves; keys !== undefined; keys = keys.before) {
    const half = next.index.halves.get(keys.key)
    if (half === undefined || half.whole) continue
    next = spent(next, run, half.agent, { ...half.told, modelCalls: 1 })
    next = reindexed(next, { halves: next.index.halves.set(keys.key, { ...half, whole: true }) })
  }
  const position = next.index.places.get(`run ${run}`)
  const known = position === undefined ? undefined : next.runs.at(position)
  if (position === undefined || known === undefined || known.duration !== undefined) return next
  const silent = sum !== undefined && Object.keys(known.usage).length === 0
  const counted = silent ? added({}, sum) : known.usage
  const done: RunUsage = { ...known, usage: counted, duration: Math.max(0, at - known.startedAt) }
  return { ...next, total: silent ? added(next.total, sum) : next.total, runs: next.runs.with(position, done) }
}

function spent(state: UsageReport, run: string, agent: string, more: Usage, less?: Usage): UsageReport {
  const withAgent = agentChanged(state, agent, (each) => ({ ...each, usage: added(each.usage, more, less) }))
  const position = withAgent.index.places.get(`run ${run}`)
  const known = position === undefined ? undefined : withAgent.runs.at(position)
  const runs =
    position === undefined || known === undefined
      ? withAgent.runs
      : withAgent.runs.with(position, { ...known, usage: added(known.usage, more, less) })
  return { ...withAgent, runs, total: added(state.total, more, less) }
}

function firstToken(state: UsageReport, { run, at }: Recorded, { agent, since }: ModelCall): UsageReport {
  const wait = at - since
  const next = agentChanged(state, agent, (each) => ({ ...each, firstToken: waited(each.firstToken, wait) }))
  const position = next.index.places.get(`run ${run}`)
  const known = position === undefined ? undefined : next.runs.at(position)
  const runs =
    position === undefined || known === undefined || known.firstToken !== undefined
      ? next.runs
      : next.runs.with(position, { ...known, firstToken: Math.max(0, at - known.startedAt) })
  return { ...next, runs, firstToken: waited(state.firstToken, wait) }
}

function agentChanged(state: UsageReport, agent: string, change: (agent: AgentUsage) => AgentUsage): UsageReport {
  const place = `agent ${agent}`
  const position = state.index.places.get(place)
  const known = position === undefined ? undefined : state.agents.at(position)
  if (position !== undefined && known !== undefined) {
    return { ...state, agents: state.agents.with(position, change(known)) }
  }
  const places = state.index.places.set(place, state.agents.length)
  return reindexed({ ...state, agents: state.agents.append(change({ agent, usage: {} })) }, { places })
}

function laneKey(run: string, { node, event }: AgentSaid): string {
  return `${run}\n${node ?? ''}\n${event.author}\n${event.branch ?? ''}`
}

/** At its first event, a lane's model was asked when its node began, else when something was last whole in the run. */
function laneOf(state: UsageReport, row: Recorded, said: AgentSaid): ModelCall {
  const { lanes, nodes } = state.index
  const began = said.node === undefined ? undefined : nodes.get(inRun(row.run, said.node))
  return (
    lanes.get(laneKey(row.run, said)) ?? {
      agent: said.event.author,
      answered: false,
      since: began ?? openAt(state, row).at,
    }
  )
}

function withLane(state: UsageReport, row: Recorded, said: AgentSaid, lane: ModelCall): UsageReport {
  return reindexed(state, {
    lanes: state.index.lanes.set(laneKey(row.run, said), lane),
    open: state.index.open.set(row.run, { ...openAt(state, row), at: row.at }),
  })
}

function openAt(
  { index }: UsageReport,
  { run, at }: Recorded,
): { readonly halves: Keys | undefined; readonly at: number } {
  return index.open.get(run) ?? { halves: undefined, at }
}

/** Field by field, as in timeline-state.ts. */
function reindexed(state: UsageReport, changed: Partial<UsageIndex>): UsageReport {
  const { index } = state
  return {
    total: state.total,
    firstToken: state.firstToken,
    agents: state.agents,
    runs: state.runs,
    index: {
      places: changed.places ?? index.places,
      lanes: changed.lanes ?? index.lanes,
      halves: changed.halves ?? index.halves,
      recent: changed.recent ?? index.recent,
      open: changed.open ?? index.open,
      nodes: changed.nodes ?? index.nodes,
      toJSON: index.toJSON,
    },
  }
}

const mostRecent = 8

function isRecent({ index }: UsageReport, run: string, message: string): boolean {
  for (const each of index.recent) if (each.message === message && each.run === run) return true
  return false
}

function hasError({ errorCode, errorMessage }: AdkEvent): boolean {
  return errorCode !== undefined || errorMessage !== undefined
}

function inRun(run: string, id: string): string {
  return `${run}\n${id}`
}
