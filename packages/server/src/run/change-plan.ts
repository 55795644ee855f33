import {
  type AgentSaid,
  type CallCounts,
  type Change,
  type Changed,
  type ChangeOfTool,
  type ChangePlan,
  defined,
  isPartial,
  type Json,
  type JsonObject,
  MillraceError,
  type Recorded,
  type RunEvent,
  type RunInput,
  type RunStarted,
} from '@millrace/core'
import type { AgentDescription } from '../agent/agent.ts'
import { changedMessage, cutForPrompt, cutForState, cutForTool, type RunCut } from './change-cut.ts'
import { RunLedger } from './ledger.ts'
import { lostBy } from './lost.ts'

/** The run that is changed, as the log has it, and what its agent can do. */
export interface ChangedRun {
  readonly session: string
  /** The rows of the run, oldest first. */
  readonly rows: readonly Recorded[]
  readonly about: Pick<AgentDescription, 'name' | 'engine' | 'capabilities' | 'redoesNodes' | 'error'> &
    Partial<Pick<AgentDescription, 'checkpoints' | 'checkpointer'>>
  /** Whether requests of this agent's model calls are recorded. */
  readonly prompts: boolean
  /** The seq of the newest record in these rows that the agent's engine kept for itself, if this server wrote it. */
  readonly sealed: (rows: readonly Recorded[]) => number | undefined
  /** Whether the rows have any such record, whoever wrote it. */
  readonly hasRecord: (rows: readonly Recorded[]) => boolean
  /** Whether the event is such a record, or replaces one that was too large to keep. */
  readonly isRecord: (event: RunEvent) => boolean
  readonly isLeftOut: (event: RunEvent) => boolean
  readonly by: string
}

/** How a changed run begins: with another message, or with rows of the run that was changed. */
export type ChangedStart = ChangePlan & { readonly changed: Changed } & (AnotherMessage | ReusedRows)

interface AnotherMessage {
  readonly input: RunInput
  /** The runs that the changed one took the place of. */
  readonly replaces: readonly string[]
}

interface ReusedRows {
  readonly rows: readonly ReusedRow[]
}

/** A row that the new session begins with, and when it happened first. */
export interface ReusedRow {
  readonly at?: number
  readonly event: RunEvent
}

/** Rows of one run that are copied: they are appended at once. */
const mostRows = 20_000

/**
 * What to reuse of a run so that it goes on with one thing changed. Throws with a sentence where that cannot be done; the
 * page asks before it offers the change, so a person reads the same sentence.
 */
export function planChange(of: ChangedRun, change: Change): ChangedStart {
  const started = of.rows.find((row): row is Recorded & { event: RunStarted } => row.event.kind === 'run.started')
  if (started === undefined) throw cannot('not-found', `this session has no run ${change.run}`)
  if (of.about.error !== undefined)
    throw cannot('conflict', `the agent ${started.event.agent} cannot run now: ${of.about.error}`)
  const place = { agent: started.event.agent, run: change.run }
  const none: CallCounts = { modelCalls: 0, toolCalls: 0 }
  if (change.field === 'message') {
    const { input, before } = changedMessage(started.event.input, change.text)
    const changed = { ...eventOf(of, change, started.seq), before, after: change.text }
    const replaces = (started.event.replaces ?? []).map(({ run }) => run)
    return { ...place, seq: started.seq - 1, reused: none, again: callsIn(of.rows, of), input, replaces, changed }
  }
  checkAgent(of, started.event.agent)
  const { seq: end, ...cut } = cutOf(of, change)
  const seq = withRecord(of, end, change.run)
  const kept = of.rows.filter((row) => row.seq <= seq)
  if (kept.length > mostRows)
    throw cannot('limit', `the run has ${kept.length} rows up to this step; at most ${mostRows} can be reused`)
  checkCheckpoint(of, kept)
  const reused = callsIn(kept, of, cut.changed)
  const all = callsIn(of.rows, of, cut.changed, true)
  const changed: Changed = { ...eventOf(of, change, cut.step), ...cut.about, after: afterOf(change, cut.earlier) }
  const rows = kept.map(({ at, event }) => ({
    at,
    event: change.field === 'tool' ? withResult(event, change) : event,
  }))
  const edit: readonly ReusedRow[] =
    change.field === 'state' ? [{ event: { kind: 'state', patch: change.patch } as const }] : []
  return {
    ...place,
    seq,
    reused,
    again: {
      modelCalls: all.modelCalls - reused.modelCalls,
      toolCalls: Math.max(0, all.toolCalls - reused.toolCalls),
    },
    rows: [...rows, { event: lostBy(kept, change.run, of.about, of.sealed(kept)) }, { event: changed }, ...edit],
    changed,
  }
}

function cutOf(of: ChangedRun, change: Exclude<Change, { field: 'message' }>): RunCut {
  const byStep = of.about.redoesNodes === true
  if (change.field === 'state') return cutForState(of.rows, change)
  if (change.field === 'tool') return cutForTool(of.rows, change, byStep)
  if (of.about.capabilities?.changedPrompts !== true)
    throw cannot(
      'conflict',
      `the models of ${of.about.name} are not called through Millrace, so no request can be changed; change the message or the state instead`,
    )
  if (!of.prompts)
    throw cannot(
      'conflict',
      `the server does not record the requests of ${of.about.name}; start it with --record-prompts on`,
    )
  return cutForPrompt(of.rows, change, byStep)
}

/** Whether the agent can go on from the middle of a run at all. */
function checkAgent({ about }: ChangedRun, agent: string): void {
  if (about.capabilities?.runsOn === true) return
  const why =
    about.engine === 'remote'
      ? 'runs on another server, which keeps its own history'
      : `is of the engine ${about.engine}, which starts every run at its beginning`
  throw cannot('conflict', `the agent ${agent} ${why}; change the message instead`)
}

/** An engine with checkpoints goes on from one, and only from one that this server wrote: another could name any step. */
function checkCheckpoint({ about, sealed, hasRecord, isLeftOut: isMark }: ChangedRun, kept: readonly Recorded[]): void {
  if (about.redoesNodes !== true) return
  if (about.checkpoints === 'own')
    throw cannot(
      'conflict',
      `the graph ${about.name} keeps its checkpoints in its own ${about.checkpointer ?? 'store'}, which has none of a new session; change the message instead`,
    )
  const isBegun = kept.some(({ event }) => event.kind === 'node.finished')
  const newest = sealed(kept)
  const isLeftOut = kept.some(({ seq, event }) => seq > (newest ?? 0) && isMark(event))
  if (!isBegun || (newest !== undefined && !isLeftOut)) return
  if (isLeftOut)
    throw cannot(
      'conflict',
      `the state of the graph ${about.name} was too large to be recorded after this step; change an earlier step or the message instead`,
    )
  throw hasRecord(kept)
    ? cannot(
        'conflict',
        'this server did not write the checkpoint of this run for this user, so the graph cannot go on from it; change the message instead',
      )
    : cannot(
        'conflict',
        `this run of the graph ${about.name} has no checkpoint of its steps; change the message instead, and the run that it makes can be changed at every step`,
      )
}

/**
 * A checkpoint is recorded right after the end of its step: a cut between the two would run the step again. While other
 * steps are open, the checkpoint may have their results, and the rows do not.
 */
function withRecord({ rows, isRecord }: ChangedRun, seq: number, run: string): number {
  const next = rows.find((row) => row.seq > seq)
  if (next === undefined || !isRecord(next.event)) return seq
  const kept = rows.filter((row) => row.seq <= seq)
  const around = nodesAround(kept)
  return RunLedger.of(kept, run).openNodes.every((node) => around.has(node)) ? next.seq : seq
}

/** The nodes that the one of the last row is inside of: they go on after it, and have no results of their own yet. */
function nodesAround(rows: readonly Recorded[]): ReadonlySet<string> {
  const last = rows.at(-1)?.event
  const parents = new Map(
    rows.flatMap(({ event }) => (event.kind === 'node.started' ? [[event.node, event.parent] as const] : [])),
  )
  const around = new Set<string>()
  for (let node = last?.kind === 'node.finished' ? parents.get(last.node) : undefined; node !== undefined; ) {
    if (around.has(node)) break
    around.add(node)
    node = parents.get(node)
  }
  return around
}

function eventOf({ session, by }: ChangedRun, { field, run }: Change, seq: number): Omit<Changed, 'after'> {
  return { kind: 'changed', field, by, of: { session, run, seq } }
}

function afterOf(change: Exclude<Change, { field: 'message' }>, earlier: number | undefined): Json {
  if (change.field === 'state') return change.patch as unknown as Json
  if (change.field === 'tool') return change.result
  const { system, contents } = change
  return defined({ system, contents, earlier: earlier === 0 ? undefined : earlier }) as JsonObject
}

/** The event with the new result in place of that of the call. */
function withResult(event: RunEvent, { call, result }: ChangeOfTool): RunEvent {
  if (event.kind !== 'agent' || !answers(event, call)) return event
  const { content } = event.event
  const parts = (content?.parts ?? []).map((part) =>
    part.functionResponse?.id === call
      ? { ...part, functionResponse: { ...part.functionResponse, response: result } }
      : part,
  )
  return { ...event, event: { ...event.event, content: { ...content, parts } } }
}

function answers({ event }: AgentSaid, call: string): boolean {
  return !isPartial(event) && (event.content?.parts ?? []).some(({ functionResponse }) => functionResponse?.id === call)
}

/**
 * The calls of these rows whose results stay: of an engine that runs open steps again from their start, those of ended
 * steps alone. `whole` counts all of them, and the changed call is left out.
 */
function callsIn(rows: readonly Recorded[], { about }: ChangedRun, changed?: string, whole = false): CallCounts {
  const open = new Set(whole || about.redoesNodes !== true ? [] : RunLedger.of(rows, rows[0]?.run ?? '').openNodes)
  const ended = new Set(rows.flatMap(({ event }) => (event.kind === 'model.finished' ? [event.call] : [])))
  const models = new Set<string>()
  const tools = new Set<string>()
  const consulted = new Map<string, string>()
  for (const { event } of rows) {
    if (event.kind === 'model.started' && !open.has(event.node ?? '') && (whole || ended.has(event.call)))
      models.add(event.call)
    // What a crash or a change cut off was made again after it, under another name.
    if (event.kind === 'superseded') for (const call of models) if (!ended.has(call)) models.delete(call)
    if (event.kind === 'node.started' && event.call !== undefined) consulted.set(event.node, event.call)
    // A specialist that has ended is not consulted again, although its answer is not in the log yet.
    if (event.kind === 'node.finished' && event.status === 'ok') tools.add(consulted.get(event.node) ?? '')
    if (event.kind !== 'agent' || isPartial(event.event) || open.has(event.node ?? '')) continue
    for (const { functionResponse } of event.event.content?.parts ?? []) tools.add(functionResponse?.id ?? '')
  }
  tools.delete('')
  if (changed !== undefined) tools.delete(changed)
  return { modelCalls: models.size, toolCalls: tools.size }
}

function cannot(code: 'not-found' | 'conflict' | 'limit', message: string): MillraceError {
  return new MillraceError(code, message)
}
