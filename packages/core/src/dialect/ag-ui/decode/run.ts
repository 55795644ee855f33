import type { Interrupted, RunFinished, RunInput, Usage } from '../../../event/run-event.ts'
import { isJsonObject, type JsonObject, sameJson } from '../../../json/json.ts'
import { Fault, faultAt } from '../../../schema/fault.ts'
import { fields } from '../../../schema/fields.ts'
import { count, data, dataObject, type FieldReader, list, oneOf, string } from '../../../schema/readers.ts'
import { echoOf, isCurrentInput, readInput } from '../input.ts'
import { type DecoderState, type FrameContext, type Handler, type Kept, on } from './state.ts'

const subagentOutcome: FieldReader<JsonObject> = (value, strict) => {
  const given = dataObject(value, strict)
  if (given instanceof Fault) return given
  const read = outcomeFields(given, strict)
  if (read instanceof Fault) return read
  // It is printed again as it came, and 1.0 has no null for absent.
  return given.interruptIds === null ? faultAt('.interruptIds', 'must be a list') : given
}
const outcomeFields = fields({ type: oneOf(['success', 'suspended']) }, { interruptIds: list(string) })

/** What is kept to be printed again: 1.0 refuses null where a field is absent. */
function withoutNulls(given: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))
}

const counted = ['inputTokens', 'outputTokens', 'totalTokens', 'reasoningTokens', 'cachedInputTokens'] as const
const counts = Object.fromEntries([...counted, 'cacheWriteInputTokens'].map((name) => [name, count]))
const usageFields = fields({}, { provider: string, model: string, ...counts })

/** Tokens of one model. */
const tokenUsage: FieldReader<JsonObject> = (value, strict) => {
  const given = dataObject(value, strict)
  if (given instanceof Fault) return given
  const read = usageFields(given, strict)
  return read instanceof Fault ? read : withoutNulls(given)
}

/** Runs, steps and subagents: what begins and ends. */
export const runHandlers: Readonly<Record<string, Handler>> = {
  RUN_STARTED: on(
    { threadId: string, runId: string },
    { parentRunId: string, input: dataObject },
    ({ threadId, runId, parentRunId, input }, aside, reading, wire) => {
      // '' is the run of what happens outside any run, so no run may be called that.
      if (runId === '') return 'runId: empty'
      begin(reading, threadId, runId)
      const start = input === undefined ? noInput : inputOf(reading, threadId, runId, input)
      const parent = parentRunId === undefined ? {} : { parent: parentRunId }
      // That it came from this wire is kept even when nothing else is: then the encoder adds nothing of its own.
      const kept = { ...start.kept, wire: true }
      reading.emit({ kind: 'run.started', agent: reading.agent, input: start.input, ...parent }, aside, kept)
      if (start.reason !== undefined) {
        const raw = JSON.stringify(wire)
        reading.emit({ kind: 'foreign', dialect: 'ag-ui', raw, reason: start.reason }, { ...aside, rest: undefined })
      }
      for (const answer of start.input.resume ?? [])
        reading.emit({ kind: 'resumed', ...answer }, { ...aside, rest: undefined })
      return undefined
    },
    { protocolVersion: string },
  ),
  RUN_FINISHED: on(
    { threadId: string, runId: string },
    { result: data, outcome: dataObject, usage: list(tokenUsage) },
    ({ threadId, runId, result, outcome, usage }, aside, reading) => {
      const ended = endOf(outcome, aside)
      if (typeof ended === 'string') return ended
      for (const [interrupt, kept] of ended.interrupts) reading.emit(interrupt, { ...aside, rest: undefined }, kept)
      const counts = usage === undefined ? undefined : usageOf(usage)
      reading.emit(
        {
          kind: 'run.finished',
          outcome: ended.outcome,
          ...(counts === undefined ? {} : { usage: counts.usage }),
          ...(result === undefined ? {} : { result }),
        },
        aside,
        {
          ...ended.kept,
          ...counts?.kept,
          threadId: threadId === reading.session ? undefined : threadId,
          runId: runId === reading.run ? undefined : runId,
        },
      )
      reading.active = false
      return undefined
    },
  ),
  RUN_ERROR: on(
    { message: string },
    { code: string, usage: list(tokenUsage) },
    ({ message, code, usage }, aside, reading) => {
      const counts = usage === undefined ? undefined : usageOf(usage)
      reading.emit(
        {
          kind: 'run.finished',
          outcome: 'failed',
          error: { code: 'remote-error', message, ...(code === undefined ? {} : { source: code }) },
          ...(counts === undefined ? {} : { usage: counts.usage }),
        },
        aside,
        counts?.kept,
      )
      reading.active = false
      return undefined
    },
  ),

  STEP_STARTED: on({ stepName: string }, {}, ({ stepName }, aside, reading) => {
    const key = stepKey(aside, stepName)
    if (reading.steps.has(key)) return `step ${stepName} is already open`
    const count = (reading.stepCounts.get(key) ?? 0) + 1
    const node = `${aside.tag === undefined ? '' : `${aside.tag}/`}${stepName}@${count}`
    reading.stepCounts.set(key, count)
    reading.steps.set(key, node)
    const parent = aside.tag === undefined ? {} : { parent: aside.tag }
    reading.emit({ kind: 'node.started', node, agent: stepName, ...parent }, aside, { as: 'step' })
    return undefined
  }),
  STEP_FINISHED: on({ stepName: string }, {}, ({ stepName }, aside, reading) => {
    const node = reading.steps.get(stepKey(aside, stepName))
    if (node === undefined) return `step ${stepName} is not open`
    reading.steps.delete(stepKey(aside, stepName))
    const metadata = aside.rest?.metadata
    const error = isJsonObject(metadata) && isJsonObject(metadata.error) ? metadata.error : undefined
    const failed =
      typeof error?.message === 'string' ? { code: 'agent-error' as const, message: error.message } : undefined
    reading.emit(
      { kind: 'node.finished', node, status: failed ? 'error' : 'ok', ...(failed ? { error: failed } : {}) },
      aside,
    )
    return undefined
  }),
  SUBAGENT_STARTED: on(
    { subagentRunId: string, name: string },
    { parentSubagentRunId: string, parentToolCallId: string },
    ({ subagentRunId, name, parentSubagentRunId, parentToolCallId }, aside, reading) => {
      if (reading.agents.has(subagentRunId)) return `subagent ${subagentRunId} has already begun`
      reading.agents.set(subagentRunId, name)
      reading.subagents.add(subagentRunId)
      reading.emit(
        {
          kind: 'node.started',
          node: subagentRunId,
          agent: name,
          ...(parentSubagentRunId === undefined ? {} : { parent: parentSubagentRunId }),
          ...(parentToolCallId === undefined ? {} : { call: parentToolCallId }),
        },
        aside,
        { as: 'subagent' },
      )
      return undefined
    },
    { description: string, parentMessageId: string },
  ),
  SUBAGENT_FINISHED: on(
    { subagentRunId: string },
    {},
    ({ subagentRunId }, aside, reading) => {
      if (!reading.subagents.delete(subagentRunId)) return `subagent ${subagentRunId} is not open`
      reading.emit({ kind: 'node.finished', node: subagentRunId, status: 'ok' }, aside)
      return undefined
    },
    { outcome: subagentOutcome },
  ),
  SUBAGENT_ERROR: on(
    { subagentRunId: string, message: string },
    { code: string },
    ({ subagentRunId, message, code }, aside, reading) => {
      if (!reading.subagents.delete(subagentRunId)) return `subagent ${subagentRunId} is not open`
      const error = { code: 'agent-error' as const, message, ...(code === undefined ? {} : { source: code }) }
      reading.emit({ kind: 'node.finished', node: subagentRunId, status: 'error', error }, aside)
      return undefined
    },
  ),
}

function begin(reading: DecoderState, threadId: string, runId: string): void {
  reading.tellAll()
  reading.session ??= threadId
  reading.run = runId
  reading.active = true
  reading.held.clear()
  for (const open of [reading.texts, reading.reasonings, reading.calls, reading.spans, reading.steps]) open.clear()
  reading.stepCounts.clear()
  reading.agents.clear()
  reading.subagents.clear()
}

function stepKey({ tag }: FrameContext, name: string): string {
  return tag === undefined ? name : `${tag}\n${name}`
}

interface Start {
  readonly input: RunInput
  readonly kept?: Kept
  readonly reason?: string
}
const noInput: Start = { input: { messages: [] } }

/** The echo of the request. Only its unseen messages are new; what printing would not give back is kept as it came. */
function inputOf(reading: DecoderState, threadId: string, runId: string, given: JsonObject): Start {
  const made = readInput(given, reading.callNames)
  if ('errors' in made) {
    const [first] = made.errors
    return { ...noInput, reason: `input.${first?.path} ${first?.message}` }
  }
  const messages = made.input.messages.filter((message) => reading.document.message(message.id) === undefined)
  const input = { ...made.input, messages }
  const printed = !isCurrentInput(given) || sameJson(echoOf(threadId, runId, input), given)
  return { input, ...(printed ? {} : { kept: { input: given } }) }
}

interface End {
  readonly outcome: RunFinished['outcome']
  readonly interrupts: readonly (readonly [Interrupted, Kept])[]
  readonly kept: Kept
}

function endOf(outcome: JsonObject | undefined, { rest }: FrameContext): End | string {
  switch (outcome?.type) {
    case undefined: {
      // Our own note: AG-UI has no word for a run that waits without a question.
      const own = isJsonObject(rest?.metadata) ? rest.metadata.millrace : undefined
      const waits = isJsonObject(own) && own.outcome === 'interrupted'
      return { outcome: waits ? 'interrupted' : 'done', interrupts: [], kept: {} }
    }
    case 'cancelled':
      return { outcome: 'cancelled', interrupts: [], kept: {} }
    case 'success': {
      const read = successFields(outcome, false)
      if (read instanceof Fault) return read.describe('outcome')
      const { pendingToolCallIds: pending = [] } = read
      return {
        outcome: pending.length > 0 ? 'interrupted' : 'done',
        interrupts: [],
        kept: { outcome: withoutNulls(outcome) },
      }
    }
    case 'interrupt': {
      const read = interruptFields(outcome, false)
      if (read instanceof Fault) return read.describe('outcome')
      const { interrupts } = read
      return interrupts.length === 0 ? 'outcome.interrupts is empty' : { outcome: 'interrupted', interrupts, kept: {} }
    }
    default:
      return { outcome: 'done', interrupts: [], kept: { unread: outcome ?? {} } }
  }
}

const interruptReader: FieldReader<readonly [Interrupted, Kept]> = (value, strict) => {
  const read = askedFields(value, strict)
  if (read instanceof Fault) return read
  const { id, reason, message, toolCallId, responseSchema, expiresAt, subagentRunId, metadata } = read
  const { payload, ...more } = metadata ?? {}
  const interrupt: Interrupted = {
    kind: 'interrupt',
    id,
    reason,
    ...(message === undefined ? {} : { message }),
    ...(toolCallId === undefined ? {} : { call: toolCallId }),
    ...(responseSchema === undefined ? {} : { schema: responseSchema }),
    ...(payload === undefined ? {} : { payload }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(subagentRunId === undefined ? {} : { node: subagentRunId }),
  }
  return [interrupt, Object.keys(more).length === 0 ? {} : { metadata: more }]
}
const askedFields = fields(
  { id: string, reason: string },
  {
    message: string,
    toolCallId: string,
    responseSchema: dataObject,
    expiresAt: string,
    subagentRunId: string,
    metadata: dataObject,
  },
)
const interruptFields = fields({ interrupts: list(interruptReader) }, {})
const successFields = fields({}, { pendingToolCallIds: list(string) })

/** Counts of several models add up; which model had which is kept for the wire. */
function usageOf(entries: readonly JsonObject[]): { readonly usage: Usage; readonly kept: Kept } {
  const usage: Partial<Record<(typeof counted)[number], number>> = {}
  for (const entry of entries) {
    for (const name of counted) {
      const tokens = entry[name]
      if (typeof tokens === 'number') usage[name] = (usage[name] ?? 0) + tokens
    }
  }
  return { usage, kept: sameJson(entries, [usage]) ? {} : { usage: [...entries] } }
}
