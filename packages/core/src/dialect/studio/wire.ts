import type { AdkFunctionCall, AdkFunctionResponse } from '../../event/adk-event.ts'
import type { Problem } from '../../event/problem.ts'
import type {
  Interrupted,
  Logged,
  NodeFinished,
  NodeStarted,
  Resumed,
  RunEvent,
  RunFinished,
} from '../../event/run-event.ts'
import type { Frame } from '../../frame/frame.ts'
import { isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import type { CallId } from '../bare-text/call-ids.ts'
import { resultFromResponse } from '../bare-text/message-builder.ts'
import { keptFields } from '../kept-fields.ts'
import type { OpenNode } from './nodes.ts'
import { cutState } from './state.ts'

type Extras = Pick<RunEvent, 'extra'>

// The frames of the schema, with keys in its order. Fields beyond the schema come after, and only where they have a
// value, so that the examples of the schema are printed byte for byte.

export function printStart(
  node: OpenNode,
  implied: boolean,
  { parent, after, call, extra }: Partial<NodeStarted> & Extras,
  given: JsonObject,
  sign: JsonObject,
): Frame {
  const added = without(given, node.input)
  const input = { ...added, ...node.input }
  return jsonFrame('trace', {
    type: 'node_start',
    node: node.name,
    step: node.step,
    state_snapshot: { input: cutState(input), output: {} },
    state_keys: Object.keys(input),
    ...runKeys(added),
    ...sign,
    ...(implied ? {} : { node_id: node.id }),
    ...(parent === undefined ? {} : { parent }),
    ...(after === undefined ? {} : { after }),
    ...(call === undefined ? {} : { call }),
    ...keptFields(extra, 'studio'),
  })
}

export function printEnd(
  node: OpenNode,
  named: boolean,
  end: Omit<NodeFinished, 'kind' | 'node'> & Extras,
  state: JsonObject,
  given: AddedKeys,
): Frame {
  return jsonFrame('trace', {
    type: 'node_end',
    node: node.name,
    step: node.step,
    ...(end.duration === undefined ? {} : { duration_ms: end.duration }),
    ...snapshot(node.input, state, given),
    ...(named ? {} : { node_id: node.id }),
    ...(end.status === 'ok' ? {} : { status: end.status }),
    ...(end.status === 'error' ? { error: end.error?.message ?? '', ...codeOf(end.error) } : {}),
    ...keptFields(end.extra, 'studio'),
  })
}

function codeOf(error: Problem | undefined): { code?: string } {
  return error === undefined || error.code === 'agent-error' ? {} : { code: error.code }
}

/** What the snapshots of a run show besides the state: all of them, and the output. */
export interface AddedKeys {
  readonly before: JsonObject
  readonly after: JsonObject
}

function snapshot(input: JsonObject, state: JsonObject, given: AddedKeys): JsonObject {
  const [before, after] = [without(given.before, input, state), without(given.after, input, state)]
  const output = { ...before, ...state, ...after }
  return {
    state_snapshot: { input: cutState({ ...before, ...input }), output: cutState(output) },
    state_keys: Object.keys(output),
    ...runKeys({ ...before, ...after }),
  }
}

/** The keys of a snapshot that a reader must not take for state. */
function runKeys(given: JsonObject): JsonObject {
  const keys = Object.keys(given)
  return keys.length === 0 ? {} : { run_keys: keys }
}

/** What none of the states has itself. */
function without(given: JsonObject, ...states: readonly JsonObject[]): JsonObject {
  const keys = Object.entries(given).filter(([key]) => !states.some((state) => Object.hasOwn(state, key)))
  return Object.fromEntries(keys)
}

/**
 * The keys that changed, with their new values, and the node that changed them. A removed key is missing from the next
 * whole snapshot.
 */
export function printState(state: JsonObject, keys: readonly string[], node: JsonObject): Frame[] {
  const entries = keys.flatMap((key): [string, Json][] =>
    Object.hasOwn(state, key) ? [[key, state[key] ?? null]] : [],
  )
  if (entries.length === 0) return []
  const output = Object.fromEntries(entries)
  return [
    jsonFrame('trace', {
      type: 'state',
      ...node,
      state_snapshot: { input: {}, output: cutState(output) },
      state_keys: Object.keys(output),
    }),
  ]
}

export interface DoneFacts {
  readonly steps: number
  readonly input: JsonObject
  readonly state: JsonObject
  /** A question is open, so a reader takes the run for interrupted unless `outcome` is printed. */
  readonly asks: boolean
  readonly given: AddedKeys
}

/** The run waits for a person. */
export function printInterrupted({ error, usage, result }: RunFinished, facts: DoneFacts): Frame {
  return jsonFrame('trace', {
    type: 'interrupted',
    total_steps: facts.steps,
    ...snapshot(facts.input, facts.state, facts.given),
    ...(error === undefined ? {} : { problem: { ...error } }),
    ...(usage === undefined ? {} : { usage: { ...usage } }),
    ...(result === undefined ? {} : { result }),
  })
}

export function printDone(event: RunFinished, { steps, input, state, asks, given }: DoneFacts): Frame {
  const { outcome, error, usage, result } = event
  // The `error` frame before this one already carries the message; only what it leaves out is printed here.
  const complete = outcome === 'failed' && error?.code === 'agent-error' && error.source === undefined
  return jsonFrame('trace', {
    type: 'done',
    total_steps: steps,
    ...snapshot(input, state, given),
    ...(outcome === 'failed' || (outcome === 'done' && !asks) ? {} : { outcome }),
    ...(error === undefined || complete ? {} : { problem: { ...error } }),
    ...(usage === undefined ? {} : { usage: { ...usage } }),
    ...(result === undefined ? {} : { result }),
  })
}

export function printCall({ name, args }: AdkFunctionCall, call: CallId, more: JsonObject): Frame {
  return jsonFrame('tool_call', { name, args: args ?? {}, ...(call.implied ? {} : { id: call.id }), ...more })
}

export function printResult({ name, response }: AdkFunctionResponse, call: CallId, more: JsonObject): Frame {
  const result = resultFromResponse(response ?? {})
  return jsonFrame('tool_result', { name, result, ...(call.implied ? {} : { id: call.id }), ...more })
}

export function logFrame({ message, level, data }: Omit<Logged, 'kind'>, node: { readonly node_id?: string }): Frame {
  const facts = data === undefined ? {} : isJsonObject(data) ? data : { data }
  return jsonFrame('log', { message, ...(level === 'info' ? {} : { level }), ...node, ...messageLast(facts, message) })
}

function messageLast(facts: JsonObject, message: string): JsonObject {
  return Object.hasOwn(facts, 'message') ? { ...facts, message } : facts
}

export function interruptFrame(event: Interrupted & Extras, name: string, implied: boolean, at: number): Frame {
  const { id, reason, message = '', payload = {}, call, schema, expiresAt, extra } = event
  return jsonFrame('interrupt', {
    type: 'interrupt',
    node_id: name,
    message,
    data: payload,
    ...extra?.studio,
    timestamp: at,
    ...(implied ? {} : { id }),
    ...(reason === 'input_required' ? {} : { reason }),
    ...(call === undefined ? {} : { call }),
    ...(schema === undefined ? {} : { schema }),
    ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
  })
}

export function printResume(
  { interrupt, status, payload }: Resumed,
  name: string,
  implied: boolean,
  at: number,
): Frame {
  return jsonFrame('resume', {
    type: 'resume',
    node_id: name,
    timestamp: at,
    ...(implied ? {} : { id: interrupt }),
    ...(status === 'resolved' ? {} : { status }),
    ...(payload === undefined ? {} : { response: payload }),
  })
}

export function jsonFrame(event: string, data: JsonObject): Frame {
  return { event, data: JSON.stringify(data) }
}

/** The events whose data is text, and those whose data is an object. */
const textEvents: ReadonlySet<unknown> = new Set(['session', 'chunk', 'end', 'error'])
const objectEvents: ReadonlySet<unknown> = new Set([
  'trace',
  'tool_call',
  'tool_result',
  'log',
  'thinking',
  'debug',
  'interrupt',
])

export function isStudioFrame({ event }: Frame, value: JsonObject | undefined): boolean {
  return (value === undefined ? textEvents : objectEvents).has(event)
}
