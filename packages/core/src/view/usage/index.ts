import type { AdkEvent } from '../../event/adk-event.ts'
import { isErrorEvent } from '../../event/adk-rules.ts'
import type { Cost, ModelFinished, ModelStarted } from '../../event/call-record.ts'
import { partsOf, responseOf } from '../../event/parts.ts'
import type { AgentSaid, Recorded, RunFinished, Usage } from '../../event/run-event.ts'
import { hasText, isPartial } from '../../event/streaming.ts'
import { addUsage, usageOf } from '../../event/usage.ts'
import { isObject } from '../../json/json.ts'
import { addCost } from '../spent.ts'
import type { View } from '../view.ts'
import { waited } from './first-token.ts'
import {
  type AgentUsage,
  emptyUsage,
  type MessageKeys,
  type ModelCall,
  type RunUsage,
  type StreamedMessageUsage,
  type UsageReport,
  withUsageIndex,
} from './state.ts'

/**
 * Tokens, model calls and waits, by agent and by run. The usage of a call is reported on its partials, on its aggregate
 * and again on events that split off it. It counts once: the last whole event of the call decides.
 */
export const usageView: View<UsageReport> = {
  name: 'usage',
  dependsOnPartials: true,
  initial: emptyUsage,
  apply(state, row) {
    const { event, run, at } = row
    switch (event.kind) {
      case 'agent':
        if (event.event.author === 'user' || event.model === false) return state
        if (state.index.recordedRuns.get(run) === true) return state
        return isPartial(event.event) ? streamed(state, row, event) : whole(state, row, event)
      case 'run.started':
        return runStarted(state, row, event.agent)
      case 'run.finished':
        return runFinished(state, row, event)
      case 'model.started':
        return modelStarted(state, row, event)
      case 'model.finished':
        return modelFinished(state, row, event)
      case 'node.started':
        return withUsageIndex(state, { nodes: state.index.nodes.set(inRun(run, event.node), at) })
      default:
        return state
    }
  },
}

/** A call counts once it is made, also if it never ends: the steps and the timeline show it too. */
function modelStarted(state: UsageReport, { run, at }: Recorded, event: ModelStarted): UsageReport {
  const { call, agent, waited: before } = event
  const key = inRun(run, call)
  if (state.index.recorded.get(key) !== undefined) return state
  const startedAt = typeof before === 'number' ? at - before : at
  const noted = withUsageIndex(state, {
    recorded: state.index.recorded.set(key, { agent, startedAt }),
    recordedRuns: state.index.recordedRuns.set(run, true),
  })
  return spent(noted, run, agent, { modelCalls: 1 })
}

/** What a recorded call used is what its record says. One that never finished has no record of it. */
function modelFinished(state: UsageReport, { run, at }: Recorded, event: ModelFinished): UsageReport {
  const key = inRun(run, event.call)
  const known = state.index.recorded.get(key)
  if (known === undefined) return state
  const { agent, startedAt } = known
  const { usage, firstToken: wait, cost } = event
  let next = withUsageIndex(state, { recorded: state.index.recorded.delete(key) })
  if (isObject(usage)) next = spent(next, run, agent, tokensOf(usage))
  // Rows that came during a commit have its time: the call may have begun earlier, but its first token came before its end.
  if (typeof wait === 'number') next = recordedToken(next, run, agent, wait, Math.min(at, startedAt + wait))
  return isObject(cost) ? paid(next, run, agent, cost) : next
}

/** Records come as calls end. Of calls at the same time, the one whose first token came first is the run's. */
function recordedToken(state: UsageReport, run: string, agent: string, wait: number, at: number): UsageReport {
  const next = firstToken(state, run, agent, wait)
  const before = state.index.firstAt.get(run)
  if (before !== undefined && before <= at) return next
  const known = runChanged(next, run, (each) => ({ ...each, firstToken: Math.max(0, wait) }))
  return withUsageIndex(known, { firstAt: state.index.firstAt.set(run, at) })
}

function paid(state: UsageReport, run: string, agent: string, cost: Cost): UsageReport {
  const next = agentChanged(state, agent, (each) => ({ ...each, costs: addCost(each.costs, cost) }))
  return {
    ...runChanged(next, run, (each) => ({ ...each, costs: addCost(each.costs, cost) })),
    costs: addCost(state.costs, cost),
  }
}

function streamed(state: UsageReport, row: Recorded, said: AgentSaid): UsageReport {
  const { event, message } = said
  if (event.usageMetadata === undefined && isRecent(state, row.run, message)) return state
  const key = inRun(row.run, message)
  const known = state.index.halves.get(key)
  const reported = usageOf(event.usageMetadata)
  if (known !== undefined ? reported === undefined : !hasText(event)) return state
  const half: StreamedMessageUsage = {
    agent: event.author,
    whole: false,
    ...known,
    ...(reported === undefined ? {} : { reported }),
  }
  const indexed = withUsageIndex(state, { halves: state.index.halves.set(key, half) })
  if (known !== undefined) return indexed
  const { halves, at } = openAt(state, row)
  const listed = withUsageIndex(indexed, {
    open: state.index.open.set(row.run, { halves: { key, before: halves }, at }),
    recent: [...state.index.recent.slice(1 - mostRecent), { run: row.run, message }],
  })
  const { agent, since } = callOfSpeaker(state, row, said)
  return firstToken(listed, row.run, agent, row.at - since)
}

function whole(state: UsageReport, row: Recorded, said: AgentSaid): UsageReport {
  const { event, message } = said
  const parts = partsOf(event.content)
  const answers = parts.some((part) => responseOf(part) !== undefined)
  const reported = usageOf(event.usageMetadata)
  const spoken = isErrorEvent(event) || parts.some((part) => responseOf(part) === undefined)
  const next = heardWhole(state, row, message)
  const current = callOfSpeaker(state, row, said)
  if (reported === undefined && (answers || !spoken)) {
    return withModelCall(next, row, said, { ...current, answered: answers || current.answered, since: row.at })
  }
  const goesOn = continues(current, event, message, reported)
  const counted = reported ?? (goesOn ? current.counted : undefined)
  const less: Usage | undefined = goesOn ? { ...current.counted, modelCalls: 1 } : undefined
  const after: ModelCall = {
    agent: current.agent,
    message,
    ...(counted === undefined ? {} : { counted }),
    answered: answers,
    since: row.at,
  }
  return withModelCall(spent(next, row.run, current.agent, { ...counted, modelCalls: 1 }, less), row, said, after)
}

function heardWhole(state: UsageReport, row: Recorded, message: string): UsageReport {
  const key = inRun(row.run, message)
  const half = state.index.halves.get(key)
  if (half === undefined || half.whole) return state
  return withUsageIndex(state, { halves: state.index.halves.set(key, { ...half, whole: true }) })
}

/**
 * Whether a whole event belongs to the model call before it. One call may give several: its text, then each of its
 * function calls, then an empty end, with tools answering in between. They repeat the same prompt count; the next call
 * has a longer prompt, because it contains what was just said.
 */
function continues(current: ModelCall, event: AdkEvent, message: string, reported: Usage | undefined): boolean {
  if (current.message === undefined) return false
  if (current.message === message) return true
  if (hasText(event)) return false
  const was = current.counted?.inputTokens
  const is = reported?.inputTokens
  if (was !== undefined && is !== undefined) return was === is
  return !current.answered
}

function runStarted(state: UsageReport, { run, at }: Recorded, agent: string): UsageReport {
  const place = `run ${run}`
  const made: RunUsage = { run, agent, usage: {}, startedAt: at }
  const indexed = withUsageIndex(state, { open: state.index.open.set(run, { halves: undefined, at }) })
  if (state.index.places.get(place) !== undefined) return indexed
  const places = state.index.places.set(place, state.runs.length)
  return withUsageIndex({ ...indexed, runs: state.runs.append(made) }, { places })
}

/** Messages that never became whole were model calls too. If no event reported usage, the sum of the run's end counts. */
function runFinished(state: UsageReport, row: Recorded, { usage: sum }: RunFinished): UsageReport {
  const { run, at } = row
  let next = state
  for (let keys = openAt(state, row).halves; keys !== undefined; keys = keys.before) {
    const half = next.index.halves.get(keys.key)
    if (half === undefined || half.whole) continue
    next = spent(next, run, half.agent, { ...half.reported, modelCalls: 1 })
    next = withUsageIndex(next, { halves: next.index.halves.set(keys.key, { ...half, whole: true }) })
  }
  const position = next.index.places.get(`run ${run}`)
  const known = position === undefined ? undefined : next.runs.at(position)
  if (position === undefined || known === undefined || known.duration !== undefined) return next
  const added = onlyAtEnd(known.usage, sum)
  const done: RunUsage = {
    ...known,
    usage: addUsage(known.usage, added),
    duration: Math.max(0, at - known.startedAt),
  }
  return { ...next, total: addUsage(next.total, added), runs: next.runs.with(position, done) }
}

function tokensOf({ modelCalls: _, ...tokens }: Usage): Usage {
  return tokens
}

/** What only the end of the run reports: its tokens if no call or message had any, and its calls if none was seen. */
function onlyAtEnd({ modelCalls: seen, ...tokens }: Usage, sum: Usage = {}): Usage {
  if (Object.keys(tokens).length > 0) return {}
  const { modelCalls, ...rest } = sum
  return { ...rest, ...(modelCalls === undefined || seen !== undefined ? {} : { modelCalls }) }
}

function spent(state: UsageReport, run: string, agent: string, more: Usage, less?: Usage): UsageReport {
  const next = agentChanged(state, agent, (each) => ({ ...each, usage: addUsage(each.usage, more, less) }))
  const known = runChanged(next, run, (each) => ({ ...each, usage: addUsage(each.usage, more, less) }))
  return { ...known, total: addUsage(state.total, more, less) }
}

function firstToken(state: UsageReport, run: string, agent: string, wait: number): UsageReport {
  const next = agentChanged(state, agent, (each) => ({ ...each, firstToken: waited(each.firstToken, wait) }))
  const known = runChanged(next, run, (each) => ({ ...each, firstToken: each.firstToken ?? Math.max(0, wait) }))
  return { ...known, firstToken: waited(state.firstToken, wait) }
}

function runChanged(state: UsageReport, run: string, change: (run: RunUsage) => RunUsage): UsageReport {
  const position = state.index.places.get(`run ${run}`)
  const known = position === undefined ? undefined : state.runs.at(position)
  if (position === undefined || known === undefined) return state
  return { ...state, runs: state.runs.with(position, change(known)) }
}

function agentChanged(state: UsageReport, agent: string, change: (agent: AgentUsage) => AgentUsage): UsageReport {
  const place = `agent ${agent}`
  const position = state.index.places.get(place)
  const known = position === undefined ? undefined : state.agents.at(position)
  if (position !== undefined && known !== undefined) {
    return { ...state, agents: state.agents.with(position, change(known)) }
  }
  const places = state.index.places.set(place, state.agents.length)
  return withUsageIndex({ ...state, agents: state.agents.append(change({ agent, usage: {} })) }, { places })
}

function speakerKeyOf(run: string, { node, event }: AgentSaid): string {
  return `${run}\n${node ?? ''}\n${event.author}\n${event.branch ?? ''}`
}

/** The model call that a speaker is in. The first one began when its node started, else when the run last had a whole event. */
function callOfSpeaker(state: UsageReport, row: Recorded, said: AgentSaid): ModelCall {
  const { calls, nodes } = state.index
  const began = said.node === undefined ? undefined : nodes.get(inRun(row.run, said.node))
  return (
    calls.get(speakerKeyOf(row.run, said)) ?? {
      agent: said.event.author,
      answered: false,
      since: began ?? openAt(state, row).at,
    }
  )
}

function withModelCall(state: UsageReport, row: Recorded, said: AgentSaid, call: ModelCall): UsageReport {
  return withUsageIndex(state, {
    calls: state.index.calls.set(speakerKeyOf(row.run, said), call),
    open: state.index.open.set(row.run, { ...openAt(state, row), at: row.at }),
  })
}

function openAt(
  { index }: UsageReport,
  { run, at }: Recorded,
): { readonly halves: MessageKeys | undefined; readonly at: number } {
  return index.open.get(run) ?? { halves: undefined, at }
}

const mostRecent = 8

function isRecent({ index }: UsageReport, run: string, message: string): boolean {
  for (const each of index.recent) if (each.message === message && each.run === run) return true
  return false
}

function inRun(run: string, id: string): string {
  return `${run}\n${id}`
}
