import { isObject, maxJsonDepth, parseJson } from '../json/json.ts'
import { Fault, faultAt } from '../schema/fault.ts'
import {
  boolean,
  count,
  data,
  dataObject,
  type FieldReader,
  list,
  notObject,
  number,
  oneOf,
  string,
} from '../schema/readers.ts'
import { shape } from '../schema/shape.ts'
import { canonicalContent, canonicalEvent, canonicalPart } from './adk-shape.ts'
import { problemCodes } from './problem.ts'
import type { Recorded, RunEvent, RunEventKind } from './run-event.ts'

// What may enter a log (SPEC 1.6): every value that is read from a disk, imported or yielded by an agent is checked here
// once and trusted from then on. The tables are written by hand: a compiled schema costs the same, a schema library 20
// times as much.

const problem = shape({ code: oneOf(problemCodes), message: string, source: string }, ['code', 'message'])
const node = string
const status = oneOf(['resolved', 'cancelled'])

const patchFields = shape(
  { op: oneOf(['add', 'replace', 'test', 'remove', 'move', 'copy']), path: string, from: string },
  ['op', 'path'],
)
/** RFC 6902: `value` is required where the operation writes or compares one (null is a value), `from` in move and copy. */
const patchOp: FieldReader = (value, strict) => {
  const read = patchFields(value, strict)
  if (!isObject(read) || read instanceof Fault) return read
  const needs = read.op === 'move' || read.op === 'copy' ? 'from' : 'value'
  return read.op !== 'remove' && read[needs] === undefined ? faultAt(`.${needs}`, 'is missing') : read
}

const task = shape(
  {
    id: string,
    title: string,
    description: string,
    status: oneOf(['pending', 'in_progress', 'done', 'failed']),
    order: number,
    result: string,
    reflection: string,
    createdAt: string,
  },
  ['id', 'title', 'status', 'order'],
)

const taskEdit = shape(
  {
    task: string,
    title: string,
    description: string,
    status: oneOf(['pending', 'in_progress', 'done', 'failed']),
    order: number,
    createdAt: string,
    removed: boolean,
  },
  ['task'],
)

const replaced = shape({ run: string, messages: list(string), nodes: list(node) }, ['run', 'messages', 'nodes'])
const forkOf = shape({ session: string, seq: number }, ['session', 'seq'])

const input = shape(
  {
    messages: list(
      shape(
        {
          id: string,
          role: oneOf(['user', 'system', 'developer', 'tool', 'assistant']),
          content: canonicalContent,
          name: string,
        },
        ['id', 'role', 'content'],
      ),
    ),
    state: dataObject,
    tools: list(shape({ name: string, description: string, parameters: dataObject }, ['name', 'description'])),
    context: list(shape({ description: string, value: string }, ['description', 'value'])),
    resume: list(shape({ interrupt: string, status }, ['interrupt', 'status'])),
    props: dataObject,
  },
  ['messages'],
)

const usage = shape({
  inputTokens: number,
  outputTokens: number,
  totalTokens: number,
  reasoningTokens: number,
  cachedInputTokens: number,
  modelCalls: number,
})

const sentRequest = shape(
  {
    like: string,
    keep: count,
    contents: list(data),
    system: string,
    tools: string,
    values: dataObject,
    omitted: string,
  },
  ['contents'],
)
const cost = shape({ amount: number, currency: string }, ['amount', 'currency'])
const feedbackTarget = shape({ run: string, message: string, call: string, node }, ['run'])
const callStatus = oneOf(['ok', 'error'])

/**
 * One table row per kind; a kind without a row does not compile. Fields of type Json (`payload`, `item`, `result`,
 * `data`) are user data and may be null: they have no entry here and, like every unknown field, need only be JSON.
 */
const kinds: Readonly<Record<RunEventKind, FieldReader>> = {
  'run.started': shape({ agent: string, input, forkOf, parent: string, replaces: list(replaced) }, ['agent', 'input']),
  'node.started': shape({ node, agent: string, parent: node, after: list(node), call: string }, ['node', 'agent']),
  agent: shape({ event: canonicalEvent, message: string, node, task: string, model: boolean }, ['event', 'message']),
  state: shape({ patch: list(patchOp), node }, ['patch']),
  'node.finished': shape({ node, status: oneOf(['ok', 'error', 'interrupted']), error: problem, duration: number }, [
    'node',
    'status',
  ]),
  'model.started': shape(
    {
      call: string,
      agent: string,
      model: string,
      tools: count,
      waited: number,
      parameters: dataObject,
      request: sentRequest,
      node,
    },
    ['call', 'agent'],
  ),
  'model.finished': shape(
    {
      call: string,
      status: callStatus,
      firstToken: number,
      duration: number,
      finishReason: string,
      model: string,
      usage,
      cost,
      messages: list(string),
      error: problem,
      node,
    },
    ['call', 'status'],
  ),
  'tool.finished': shape({ call: string, name: string, status: callStatus, duration: number, node }, [
    'call',
    'name',
    'status',
    'duration',
  ]),
  tasks: shape({ tasks: list(task), node }, ['tasks']),
  'tasks.changed': shape({ changes: list(taskEdit), node }, ['changes']),
  'task.started': shape({ task: string, node }, ['task']),
  'task.finished': shape({ task: string, status: oneOf(['done', 'failed']), result: string, node }, [
    'task',
    'status',
    'result',
  ]),
  'task.reflected': shape({ task: string, text: string, node }, ['task', 'text']),
  artifact: shape(
    {
      id: string,
      name: string,
      type: string,
      version: number,
      part: canonicalPart,
      task: string,
      node,
      deleted: boolean,
    },
    ['id', 'name', 'type', 'version'],
  ),
  data: shape({ id: string, operation: oneOf(['create', 'update', 'delete']), itemType: string, task: string, node }, [
    'id',
    'operation',
    'itemType',
  ]),
  interrupt: shape(
    { id: string, reason: string, message: string, call: string, schema: dataObject, expiresAt: string, node },
    ['id', 'reason'],
  ),
  resumed: shape({ interrupt: string, status }, ['interrupt', 'status']),
  superseded: shape({ messages: list(string), nodes: list(node), facts: boolean }, ['messages', 'nodes']),
  feedback: shape({ about: feedbackTarget, rating: oneOf(['up', 'down']), note: string, by: string }, ['about']),
  changed: shape(
    {
      field: oneOf(['message', 'state', 'tool', 'prompt']),
      by: string,
      of: shape({ session: string, run: string, seq: number }, ['session', 'run', 'seq']),
      agent: string,
      node,
      call: string,
      name: string,
    },
    ['field', 'by', 'of', 'after'],
  ),
  log: shape({ level: oneOf(['debug', 'info', 'warn', 'error']), message: string, node }, ['level', 'message']),
  foreign: shape({ dialect: string, raw: string, reason: string }, ['dialect', 'raw', 'reason']),
  'run.finished': shape({ outcome: oneOf(['done', 'failed', 'cancelled', 'interrupted']), error: problem, usage }, [
    'outcome',
  ]),
}
const byKind = new Map<unknown, FieldReader>(Object.entries(kinds))

const runEvent: FieldReader = (value, strict) => {
  if (!isObject(value)) return notObject
  const read = byKind.get(value.kind)
  if (read === undefined) return faultAt('.kind', 'is not a kind of event')
  return read(value, strict)
}

const seq: FieldReader = (value) =>
  Number.isSafeInteger(value) && Number(value) > 0 ? value : faultAt('', 'must be a whole number above 0')
const recorded = shape({ seq, at: number, run: string, event: runEvent }, ['seq', 'at', 'run', 'event'])

/** Why a value is not a RunEvent, with the path: `event.content.parts[0].text must be a string`. Undefined when it is one. */
export function whyNotRunEvent(value: unknown): string | undefined {
  return why(runEvent, value)
}
/** Why a value is not a Recorded event (a line of an export, a row of a store), with the path. */
export function whyNotRecorded(value: unknown): string | undefined {
  return why(recorded, value)
}

export function isRunEvent(value: unknown): value is RunEvent {
  return why(runEvent, value) === undefined
}
export function isRecorded(value: unknown): value is Recorded {
  return why(recorded, value) === undefined
}

/**
 * How many levels a row adds around the deepest user data: row, event, input, messages, message, content, parts, part,
 * functionResponse, with room for a newer field. The depth of the data itself is checked by its own table.
 */
const levelsAround = 16

/** Reads one line of an export: the recorded event, or the reason why it is not one. Accepts every row that a log accepts. */
export function parseRecorded(text: string): { readonly recorded: Recorded } | { readonly reason: string } {
  const parsed = parseJson(text, maxJsonDepth + levelsAround)
  if ('reason' in parsed) return parsed
  return isRecorded(parsed.value)
    ? { recorded: parsed.value }
    : { reason: whyNotRecorded(parsed.value) ?? 'not a recorded event' }
}

function why(read: FieldReader, value: unknown): string | undefined {
  try {
    const result = read(value, true)
    return result instanceof Fault ? result.describe() : undefined
  } catch {
    return 'it throws when it is read' // an agent can yield a getter or a proxy
  }
}
