import type { AdkEvent } from '../../../event/adk-event.ts'
import type { Interrupted, RunEvent, RunFinished, Usage } from '../../../event/run-event.ts'
import { isPartial } from '../../../event/streaming.ts'
import { addUsage, usageOf } from '../../../event/usage.ts'
import { defined } from '../../../json/defined.ts'
import { isJsonObject, isObject, type Json, type JsonObject } from '../../../json/json.ts'
import { type AgUiEvent, keptOf, restOf } from '../wire.ts'

/** The facts that the terminal event of a run reports. */
export interface Ending {
  readonly threadId: string
  readonly runId: string
  /** Questions without an answer in this run. */
  readonly interrupts: readonly JsonObject[]
  /** Calls without a response in this run. */
  readonly pending: readonly string[]
  /** The sum of the models' reports, for logs whose `run.finished` has no usage. */
  readonly usage: readonly JsonObject[]
}

/** The one terminal event of a run: RUN_ERROR for a failed one, RUN_FINISHED with its outcome for any other. */
export function terminal(event: RunFinished & RunEvent, ending: Ending): AgUiEvent {
  const kept = keptOf(event)
  const usage = usageEntries(event.usage, kept, ending.usage)
  const counts = usage.length === 0 ? {} : { usage }
  if (event.outcome === 'failed') {
    const { code, message, source } = event.error ?? { code: 'internal', message: 'the run failed' }
    const named = source ?? (code === 'remote-error' ? undefined : code)
    return { type: 'RUN_ERROR', message, ...defined({ code: named }), ...counts, ...restOf(kept) }
  }
  const { result } = event
  const outcome = outcomeOf(event, kept, ending)
  // A run that waits for no question and no call, such as a paused plan.
  const waits = event.outcome === 'interrupted' && outcome === undefined
  const note = waits ? { metadata: { millrace: { outcome: event.outcome } } } : {}
  return {
    type: 'RUN_FINISHED',
    threadId: typeof kept.threadId === 'string' ? kept.threadId : ending.threadId,
    runId: typeof kept.runId === 'string' ? kept.runId : ending.runId,
    ...(result === undefined || result === null ? {} : { result }),
    ...defined({ outcome }),
    ...counts,
    ...note,
    ...restOf(kept),
  }
}

/** An absent outcome means success. A call that the client must answer is no interrupt: the next run brings its result. */
function outcomeOf({ outcome }: RunFinished, kept: JsonObject, ending: Ending): JsonObject | undefined {
  if (outcome === 'cancelled') return { type: 'cancelled' }
  if (outcome === 'interrupted' && ending.interrupts.length > 0)
    return { type: 'interrupt', interrupts: ending.interrupts }
  if (isJsonObject(kept.outcome) && kept.outcome.type === 'success') return kept.outcome
  if (outcome !== 'interrupted' || ending.pending.length === 0) return undefined
  return { type: 'success', pendingToolCallIds: ending.pending }
}

export function agUiInterrupt(event: Interrupted & RunEvent, tag: string | undefined): JsonObject {
  const { id, reason, message, call, schema, payload, expiresAt } = event
  const { metadata } = keptOf(event)
  const about = { ...defined({ payload }), ...(isJsonObject(metadata) ? metadata : {}) }
  return defined({
    id,
    reason,
    message,
    toolCallId: call,
    responseSchema: isObject(schema) ? schema : undefined,
    expiresAt,
    metadata: Object.keys(about).length === 0 ? undefined : about,
    subagentRunId: tag,
  })
}

const counted = ['inputTokens', 'outputTokens', 'totalTokens', 'reasoningTokens', 'cachedInputTokens'] as const

function usageEntries(usage: Usage | undefined, kept: JsonObject, reported: readonly JsonObject[]): readonly Json[] {
  if (Array.isArray(kept.usage)) return kept.usage
  if (usage === undefined) return reported
  const entry: Record<string, number> = Object.fromEntries(
    counted.flatMap((name) => {
      const count = usage[name]
      return isCount(count) ? [[name, count]] : []
    }),
  )
  const { inputTokens = 0, outputTokens = 0, reasoningTokens = 0, totalTokens } = entry
  // AG-UI counts thinking as part of the output. If the total shows that it was counted separately, it is added.
  const beside = reasoningTokens > 0 && inputTokens + outputTokens + reasoningTokens === totalTokens
  if (beside) entry.outputTokens = outputTokens + reasoningTokens
  return Object.keys(entry).length === 0 ? [] : [entry]
}

/** The usage that the models of a run reported, by model. Partials are left out: the aggregate reports the same again. */
export class ReportedUsage {
  readonly #byModel = new Map<string, Usage>()

  begin(): void {
    this.#byModel.clear()
  }
  add(event: AdkEvent): void {
    const used = isPartial(event) ? undefined : usageOf(event.usageMetadata)
    if (used === undefined) return
    const model = typeof event.modelVersion === 'string' ? event.modelVersion : ''
    this.#byModel.set(model, addUsage(this.#byModel.get(model) ?? {}, used))
  }
  get entries(): readonly JsonObject[] {
    return [...this.#byModel].map(([model, usage]) => {
      const { inputTokens, outputTokens, totalTokens, reasoningTokens, cachedInputTokens } = usage
      // AG-UI counts thinking as part of the output, Gemini separately.
      const output = reasoningTokens === undefined ? outputTokens : (outputTokens ?? 0) + reasoningTokens
      const counts = { inputTokens, outputTokens: output, totalTokens, reasoningTokens, cachedInputTokens }
      return defined({ model: model === '' ? undefined : model, ...counts })
    })
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
