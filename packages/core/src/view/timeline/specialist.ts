import type { AdkFunctionResponse } from '../../event/adk-event.ts'
import { asksAgent } from '../../event/adk-rules.ts'
import { branchOf, mostSpeakers } from '../../event/branch.ts'
import { callOf, isToolError, partsOf, responseOf } from '../../event/parts.ts'
import type { Problem } from '../../event/problem.ts'
import type { AgentSaid, Recorded } from '../../event/run-event.ts'
import { isObject } from '../../json/json.ts'
import { type AskedAgent, type Execution, type Timeline, timelineKey, trackOf, withTimelineIndex } from './state.ts'
import { beginExecution, type End, endExecution, ownerOf, type Watcher, wrote } from './track.ts'

/**
 * Specialists that an agent calls as tools: ADK runs them apart, and a recording of the caller holds nothing of theirs but
 * the call and the response. Their execution is added at the response, because only then it is sure that the log has no
 * node for the call and no event of the specialist itself.
 */
export function trackSpecialists(
  line: Timeline,
  row: Recorded,
  said: AgentSaid,
  keys: readonly string[],
  watcher?: Watcher,
): Timeline {
  const parts = partsOf(said.event.content)
  const responses = parts.flatMap((part) => responseOf(part) ?? [])
  const answered = responses.reduce(
    // The state that a specialist wrote comes with its response. With several responses it is not known whose it is.
    (next, response) => responded(next, row, response, responses.length === 1 ? keys : [], watcher),
    line,
  )
  const waits: unknown = said.event.longRunningToolIds
  const calls = parts.flatMap((part) => {
    const call = callOf(part)
    if (call === undefined || !asksAgent(call)) return []
    return Array.isArray(waits) && waits.includes(call.id) ? [] : [call]
  })
  const caller = calls.length === 0 ? undefined : callerOf(answered, row, said)
  if (caller === undefined) return answered
  const { asked } = trackOf(answered, row)
  const { seq, at } = row
  const input = answered.index.state
  const more = calls.map(({ id: call, name }): AskedAgent => ({ call, name, caller, seq, at, input }))
  const known = asked.filter((each) => each.call === undefined || !more.some(({ call }) => call === each.call))
  return withAsked(answered, row, [...known, ...more].slice(-mostSpeakers))
}

/** The log has a node for the call after all. */
export function hasNode(line: Timeline, row: Recorded, call: string | undefined): Timeline {
  const { asked } = trackOf(line, row)
  if (call === undefined || !asked.some((each) => each.call === call)) return line
  return withAsked(
    line,
    row,
    asked.filter((each) => each.call !== call),
  )
}

/** The run broke off: specialists without a response ran until then. */
export function unanswered(line: Timeline, row: Recorded, watcher?: Watcher): Timeline {
  return trackOf(line, row).asked.reduce(
    (next, each) => ran(next, row, each, 'interrupted', undefined, [], watcher),
    line,
  )
}

function responded(
  line: Timeline,
  row: Recorded,
  { id, name, response }: AdkFunctionResponse,
  keys: readonly string[],
  watcher?: Watcher,
): Timeline {
  const { asked } = trackOf(line, row)
  const found = asked.find((each) => (id === undefined ? each.name === name : each.call === id))
  if (found === undefined) return line
  const rest = withAsked(
    line,
    row,
    asked.filter((each) => each !== found),
  )
  const error = isObject(response) ? problemIn(response.error) : undefined
  return ran(rest, row, found, error === undefined ? 'ok' : 'error', error, keys, watcher)
}

function ran(
  line: Timeline,
  row: Recorded,
  { call, name, caller, seq, at, input }: AskedAgent,
  status: Execution['status'],
  error: Problem | undefined,
  keys: readonly string[],
  watcher?: Watcher,
): Timeline {
  const own = line.index.agents.get(timelineKey(row.run, name))
  const spoke = own === undefined ? undefined : line.executions.at(own)
  if (spoke !== undefined && spoke.call === undefined && spoke.startSeq >= seq) return line
  const position = line.executions.length
  const { node, counted } = nextNode(line, row.run, `${caller.path}/${name}`)
  const start = { node, agent: name, parent: caller.node, call, inferred: true, via: 'delegate', after: [] } as const
  const begun = beginExecution(counted, row, { ...start, startSeq: seq, startedAt: at, input }, watcher)
  const end: End = { status, error, duration: undefined, endSeq: row.seq, endedAt: row.at, output: begun.index.state }
  return endExecution(wrote(begun, position, keys), position, end, watcher)
}

/** The next number of this path that no node has. */
function nextNode(line: Timeline, run: string, path: string): { readonly node: string; readonly counted: Timeline } {
  const counter = timelineKey(run, path)
  let count = line.index.counts.get(counter) ?? 0
  do count += 1
  while (line.index.nodes.get(timelineKey(run, `${path}@${count}`)) !== undefined)
  const counted = withTimelineIndex(line, { counts: line.index.counts.set(counter, count) })
  return { node: `${path}@${count}`, counted }
}

function callerOf(line: Timeline, row: Recorded, { event, node }: AgentSaid): AskedAgent['caller'] | undefined {
  const branch = branchOf(event)
  const speaker = trackOf(line, row).speakers.findLast((each) => each.branch === branch && each.author === event.author)
  const position =
    ownerOf(line, row.run, node, event.author) ?? speaker?.position ?? ownerOf(line, row.run, undefined, event.author)
  const execution = position === undefined ? undefined : line.executions.at(position)
  return execution === undefined ? undefined : { node: execution.node, path: execution.path }
}

/** ADK turns a tool that throws into `{ error: "…" }`. */
function problemIn(error: unknown): Problem | undefined {
  if (!isToolError(error)) return undefined
  const message = isObject(error) ? error.message : error
  return { code: 'agent-error', message: typeof message === 'string' ? message : 'the agent reported an error' }
}

function withAsked(line: Timeline, row: Recorded, asked: readonly AskedAgent[]): Timeline {
  return withTimelineIndex(line, { runs: line.index.runs.set(row.run, { ...trackOf(line, row), asked }) })
}
