import type { Interrupted, RunFinished, RunInput, Usage } from '../../../event/run-event.ts'
import { defined } from '../../../json/defined.ts'
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
  // It is printed again as it came, and 1.0 does not accept null for absent.
  return given.interruptIds === null ? faultAt('.interruptIds', 'must be a list') : given
}
const outcomeFields = fields({ type: oneOf(['success', 'suspended']) }, { interruptIds: list(string) })

/** For values that are printed again as they came: 1.0 does not accept null for absent. */
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

/** Runs, steps and subagents. */
export const runHandlers: Readonly<Record<string, Handler>> = {
  RUN_STARTED: on(
    { threadId: string, runId: string },
    { parentRunId: string, input: dataObject },
    ({ threadId, runId, parentRunId, input }, context, decoder, wire) => {
      // '' is the run id of events outside any run.
      if (runId === '') return 'runId must not be empty'
      begin(decoder, threadId, runId)
      const start = input === undefined ? noInput : inputOf(decoder, threadId, runId, input)
      // `wire` makes the encoder add nothing to this run that was not on the wire.
      const kept = { ...start.kept, wire: true }
      decoder.emit(
        { kind: 'run.started', agent: decoder.agent, input: start.input, ...defined({ parent: parentRunId }) },
        context,
        kept,
      )
      if (start.reason !== undefined) {
        const raw = JSON.stringify(wire)
        decoder.emit({ kind: 'foreign', dialect: 'ag-ui', raw, reason: start.reason }, { ...context, rest: undefined })
      }
      for (const answer of start.input.resume ?? [])
        decoder.emit({ kind: 'resumed', ...answer }, { ...context, rest: undefined })
      return undefined
    },
    { protocolVersion: string },
  ),
  RUN_FINISHED: on(
    { threadId: string, runId: string },
    { result: data, outcome: dataObject, usage: list(tokenUsage) },
    ({ threadId, runId, result, outcome, usage }, context, decoder) => {
      const ended = endOf(outcome, context)
      if (typeof ended === 'string') return ended
      for (const [interrupt, kept] of ended.interrupts) decoder.emit(interrupt, { ...context, rest: undefined }, kept)
      const counts = usage === undefined ? undefined : usageOf(usage)
      decoder.emit(
        {
          kind: 'run.finished',
          outcome: ended.outcome,
          ...defined({ usage: counts?.usage, result }),
        },
        context,
        {
          ...ended.kept,
          ...counts?.kept,
          threadId: threadId === decoder.session ? undefined : threadId,
          runId: runId === decoder.run ? undefined : runId,
        },
      )
      decoder.active = false
      return undefined
    },
  ),
  RUN_ERROR: on(
    { message: string },
    { code: string, usage: list(tokenUsage) },
    ({ message, code, usage }, context, decoder) => {
      const counts = usage === undefined ? undefined : usageOf(usage)
      decoder.emit(
        {
          kind: 'run.finished',
          outcome: 'failed',
          error: { code: 'remote-error', message, ...defined({ source: code }) },
          ...defined({ usage: counts?.usage }),
        },
        context,
        counts?.kept,
      )
      decoder.active = false
      return undefined
    },
  ),

  STEP_STARTED: on({ stepName: string }, {}, ({ stepName }, context, decoder) => {
    const key = stepKey(context, stepName)
    if (decoder.steps.has(key)) return `step ${stepName} is already open`
    const count = (decoder.stepCounts.get(key) ?? 0) + 1
    const node = `${context.tag === undefined ? '' : `${context.tag}/`}${stepName}@${count}`
    decoder.stepCounts.set(key, count)
    decoder.steps.set(key, node)
    decoder.emit({ kind: 'node.started', node, agent: stepName, ...defined({ parent: context.tag }) }, context, {
      as: 'step',
    })
    return undefined
  }),
  STEP_FINISHED: on({ stepName: string }, {}, ({ stepName }, context, decoder) => {
    const node = decoder.steps.get(stepKey(context, stepName))
    if (node === undefined) return `step ${stepName} is not open`
    decoder.steps.delete(stepKey(context, stepName))
    const metadata = context.rest?.metadata
    const error = isJsonObject(metadata) && isJsonObject(metadata.error) ? metadata.error : undefined
    const failed =
      typeof error?.message === 'string' ? { code: 'agent-error' as const, message: error.message } : undefined
    decoder.emit(
      { kind: 'node.finished', node, status: failed ? 'error' : 'ok', ...(failed ? { error: failed } : {}) },
      context,
    )
    return undefined
  }),
  SUBAGENT_STARTED: on(
    { subagentRunId: string, name: string },
    { parentSubagentRunId: string, parentToolCallId: string },
    ({ subagentRunId, name, parentSubagentRunId, parentToolCallId }, context, decoder) => {
      if (decoder.agents.has(subagentRunId)) return `subagent ${subagentRunId} has already begun`
      decoder.agents.set(subagentRunId, name)
      decoder.subagents.add(subagentRunId)
      decoder.emit(
        {
          kind: 'node.started',
          node: subagentRunId,
          agent: name,
          ...defined({ parent: parentSubagentRunId, call: parentToolCallId }),
        },
        context,
        { as: 'subagent' },
      )
      return undefined
    },
    { description: string, parentMessageId: string },
  ),
  SUBAGENT_FINISHED: on(
    { subagentRunId: string },
    {},
    ({ subagentRunId }, context, decoder) => {
      if (!decoder.subagents.delete(subagentRunId)) return `subagent ${subagentRunId} is not open`
      decoder.emit({ kind: 'node.finished', node: subagentRunId, status: 'ok' }, context)
      return undefined
    },
    { outcome: subagentOutcome },
  ),
  SUBAGENT_ERROR: on(
    { subagentRunId: string, message: string },
    { code: string },
    ({ subagentRunId, message, code }, context, decoder) => {
      if (!decoder.subagents.delete(subagentRunId)) return `subagent ${subagentRunId} is not open`
      const error = { code: 'agent-error' as const, message, ...defined({ source: code }) }
      decoder.emit({ kind: 'node.finished', node: subagentRunId, status: 'error', error }, context)
      return undefined
    },
  ),
}

function begin(decoder: DecoderState, threadId: string, runId: string): void {
  decoder.documentAll()
  decoder.session ??= threadId
  decoder.run = runId
  decoder.active = true
  decoder.held.clear()
  for (const open of [decoder.texts, decoder.reasonings, decoder.calls, decoder.spans, decoder.steps]) open.clear()
  decoder.stepCounts.clear()
  decoder.agents.clear()
  decoder.subagents.clear()
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

/**
 * The echoed request. Only messages not seen before are new. An input that printing would change is kept as it came.
 */
function inputOf(decoder: DecoderState, threadId: string, runId: string, given: JsonObject): Start {
  const made = readInput(given, decoder.callNames)
  if ('errors' in made) {
    const [first] = made.errors
    return { ...noInput, reason: `input.${first?.path} ${first?.message}` }
  }
  const messages = decoder.document
    .remembered(made.input.messages)
    .filter((message) => decoder.document.message(message.id) === undefined)
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
      // A note of Millrace's encoder: AG-UI has no outcome for a run that waits without a question.
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
    ...defined({ message, call: toolCallId, schema: responseSchema, payload, expiresAt, node: subagentRunId }),
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

/** The counts of all models together; the counts by model are kept for the encoder. */
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
