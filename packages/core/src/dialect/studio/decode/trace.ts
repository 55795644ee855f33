import { isProblemCode, type Problem, problemIn } from '../../../event/problem.ts'
import type { Level, Outcome, RunEvent } from '../../../event/run-event.ts'
import { isJsonObject, type Json, type JsonObject, type PatchOp } from '../../../json/json.ts'
import { keepFields } from '../../kept-fields.ts'
import type { OpenNode } from '../nodes.ts'
import { changesTo, updateOf } from '../state.ts'
import { type Ended, readObject, type StudioFrameResult, type StudioRun } from './run.ts'

/** Reads a `trace` frame: the four types of the schema, and those that ADK Studio's server passes on from its graph. */
export function readTrace(run: StudioRun, data: string): StudioFrameResult {
  const trace = readObject(data)
  if (typeof trace === 'string') return trace
  switch (trace.type) {
    case 'node_start':
      return nodeStart(run, trace)
    case 'node_end':
      return nodeEnd(run, trace)
    case 'state':
      return stateUpdate(run, trace)
    case 'done':
      return done(run, trace)
    case 'updates':
      return updates(run, trace)
    case 'message':
      return message(run, trace)
    case 'interrupted':
      return trace.total_steps === undefined ? interrupted(run, trace) : waiting(run, trace)
    case 'error':
      return [passing(run, trace, 'error', textOf(trace.message) ?? 'error')]
    case 'custom':
      return [passing(run, trace, 'debug', textOf(trace.event_type) ?? 'custom')]
    case 'debug':
    case 'step_complete':
    case 'resumed':
    case 'route_dispatched':
      return [passing(run, trace, 'debug', trace.type)]
    default:
      return 'unknown trace type'
  }
}

const snapshotFields = ['type', 'node', 'step', 'node_id', 'state_snapshot', 'state_keys', 'run_keys', 'chunks']
const startFields = new Set([...snapshotFields, 'parent', 'after', 'call'])
const endFields = new Set([...snapshotFields, 'duration_ms', 'status', 'error', 'code'])

function nodeStart(run: StudioRun, trace: JsonObject): StudioFrameResult {
  const { node: name, step, node_id, parent, after, call } = trace
  if (typeof name !== 'string') return 'node_start has no node'
  const id = textOf(node_id) ?? run.nodes.impliedId(name)
  if (run.nodes.get(id) !== undefined) return 'the node is already open'
  // Only a server that follows the schema sends the keys here: then the snapshot is the whole state.
  const whole = Array.isArray(trace.state_keys)
  run.chunks.sign(whole ? 'schema' : 'upstream')
  if (trace.chunks === 'delta') run.chunks.sign('delta')
  const { input } = snapshotOf(trace)
  const patch = input === undefined ? [] : changesTo(run.state, input, whole && !run.nodes.any ? run.state : {})
  const implied = run.nodes.impliedStep
  const own = typeof step === 'number' ? step : implied
  run.nodes.start({ id, name, step: own, input: input ?? run.state, at: 0, whole })
  const started: RunEvent = {
    kind: 'node.started',
    node: id,
    agent: name,
    ...(typeof parent === 'string' ? { parent } : {}),
    ...(isStrings(after) ? { after } : {}),
    ...(typeof call === 'string' ? { call } : {}),
    ...(own === implied ? {} : { extra: { studio: { step: own } } }),
  }
  return keepFields('studio', [...patched(patch), started], trace, startFields)
}

function nodeEnd(run: StudioRun, trace: JsonObject): StudioFrameResult {
  const open = openNode(run, trace)
  if (open === undefined) return 'the node that ends is not open'
  const closed = run.speech.close({ author: open.name, node: open.id })
  const { output } = snapshotOf(trace)
  const patch = output === undefined ? [] : changesTo(run.state, output, open.whole ? open.input : {})
  run.nodes.end(open.id)
  const { duration_ms: duration } = trace
  const finished: RunEvent = {
    kind: 'node.finished',
    node: open.id,
    ...statusOf(trace),
    ...(typeof duration === 'number' ? { duration } : {}),
  }
  return keepFields('studio', [...closed, ...patched(patch, open.id), finished], trace, endFields)
}

function openNode(run: StudioRun, { node: name, step, node_id: id }: JsonObject): OpenNode | undefined {
  if (typeof id === 'string') return run.nodes.get(id)
  return typeof name === 'string' ? run.nodes.named(name, typeof step === 'number' ? step : undefined) : undefined
}

type NodeStatus = { status: 'ok' | 'interrupted' } | { status: 'error'; error: Problem }

function statusOf({ status, error, code }: JsonObject): NodeStatus {
  if (status !== 'error') return { status: status === 'interrupted' ? status : 'ok' }
  return { status, error: { code: isProblemCode(code) ? code : 'agent-error', message: textOf(error) ?? '' } }
}

function stateUpdate(run: StudioRun, trace: JsonObject): StudioFrameResult {
  const state = snapshotOf(trace).output ?? objectOf(trace.state)
  const patch = state === undefined ? [] : updateOf(run.state, state)
  return patch.length === 0 ? 'no state in it' : patched(patch, openNode(run, trace)?.id)
}

function updates(run: StudioRun, trace: JsonObject): StudioFrameResult {
  const update = objectOf(trace.updates)
  const patch = update === undefined ? [] : changesTo(run.state, update, {})
  if (patch.length === 0) return [passing(run, trace, 'debug', 'updates')]
  return patched(patch, nodeNamed(run, trace)?.id)
}

function done(run: StudioRun, trace: JsonObject): StudioFrameResult {
  if (run.phase === 'finished') return 'the run has already ended'
  run.done = endOf(run, trace)
  const { output = objectOf(trace.state) } = snapshotOf(trace)
  return [...run.speech.close(), ...patched(output === undefined ? [] : changesTo(run.state, output, run.state))]
}

/** The run waits for a person, and no `end` follows. */
function waiting(run: StudioRun, trace: JsonObject): StudioFrameResult {
  const read = done(run, trace)
  if (typeof read === 'string') return read
  return [...read, { kind: 'run.finished', ...run.done, outcome: 'interrupted' }]
}

function endOf(run: StudioRun, trace: JsonObject): Partial<Ended> {
  const { outcome, total_steps: steps, result } = trace
  const error = problemIn(trace.problem)
  return {
    ...(isOutcome(outcome) ? { outcome } : {}),
    ...(error === undefined ? {} : { error }),
    ...usageOf(trace.usage),
    ...(result === undefined ? {} : { result }),
    ...(typeof steps === 'number' && steps !== run.nodes.totalSteps
      ? { extra: { studio: { total_steps: steps } } }
      : {}),
  }
}

/** The graph's own text events. ADK Studio sends each text as a chunk first: then this adds nothing. */
function message(run: StudioRun, trace: JsonObject): StudioFrameResult {
  const { node, content, is_final: final } = trace
  if (typeof content !== 'string' || run.chunks.has(content)) return [passing(run, trace, 'debug', 'message')]
  const speaker = run.speaker(textOf(node))
  return [...run.speech.delta(speaker, content), ...(final === true ? run.speech.close() : [])]
}

/** The server sends `interrupt` first, and this after it. */
function interrupted(run: StudioRun, trace: JsonObject): StudioFrameResult {
  const name = textOf(trace.node) ?? ''
  if (run.interrupts.asks(name)) return [passing(run, trace, 'debug', 'interrupted')]
  const { message, data } = trace
  return [
    run.interrupted(name, {
      ...(typeof message === 'string' ? { message } : {}),
      ...(data === undefined ? {} : { payload: data }),
    }),
  ]
}

/** A trace that has no canonical place: kept as a log record, and printed again as it came. */
function passing(run: StudioRun, trace: JsonObject, level: Level, message: string): RunEvent {
  const node = nodeNamed(run, trace)?.id
  return {
    kind: 'log',
    level,
    message,
    data: trace,
    ...(node === undefined ? {} : { node }),
    extra: { studio: { event: 'trace' } },
  }
}

function nodeNamed(run: StudioRun, { node }: JsonObject): OpenNode | undefined {
  return typeof node === 'string' ? run.nodes.named(node) : undefined
}

function patched(patch: readonly PatchOp[], node?: string): RunEvent[] {
  return patch.length === 0 ? [] : [{ kind: 'state', patch, ...(node === undefined ? {} : { node }) }]
}

/** The states that a trace shows, without the keys that are the query and the answer of the run. */
function snapshotOf(trace: JsonObject): { input?: JsonObject; output?: JsonObject } {
  const { input, output } = objectOf(trace.state_snapshot) ?? {}
  const { run_keys: given } = trace
  const keys: ReadonlySet<unknown> = new Set(isStrings(given) ? given : [])
  const state = (shown: Json | undefined): JsonObject | undefined => {
    const known = objectOf(shown)
    if (known === undefined || keys.size === 0) return known
    return Object.fromEntries(Object.entries(known).filter(([key]) => !keys.has(key)))
  }
  const [before, after] = [state(input), state(output)]
  return { ...(before === undefined ? {} : { input: before }), ...(after === undefined ? {} : { output: after }) }
}

function usageOf(usage: Json | undefined): Pick<Ended, 'usage'> {
  const counts = Object.entries(objectOf(usage) ?? {}).filter(([, count]) => typeof count === 'number')
  return counts.length === 0 ? {} : { usage: Object.fromEntries(counts) }
}

function isOutcome(value: Json | undefined): value is Outcome {
  return value === 'done' || value === 'failed' || value === 'cancelled' || value === 'interrupted'
}

function isStrings(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function objectOf(value: Json | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined
}
