import { type AdkContent, type AdkPart, type JsonObject, MillraceError } from '@millrace/core'
import { z } from 'zod'
import type { EvalCase, EvalMetric, EvalSet } from './eval-set.ts'

// Evaluation sets come from ADK's files, which are in snake_case, and from adk-web, which sends camelCase. Both are read.

/** ADK writes null for what is not set. */
const unset = <T extends z.ZodType>(type: T) => type.nullish().transform((value) => value ?? undefined)

const parts = z.array(z.looseObject({})) as unknown as z.ZodType<readonly AdkPart[]>
const content = z
  .looseObject({ role: z.string().nullish(), parts: parts.nullish() })
  .transform(({ role, parts: said }): AdkContent => ({ ...(role ? { role } : {}), parts: said ?? [] }))
const json = z.record(z.string(), z.json()) as unknown as z.ZodType<JsonObject>

const toolUse = z.object({
  id: z
    .string()
    .nullish()
    .transform((id) => id ?? undefined),
  name: z.string(),
  args: json.nullish().transform((args) => args ?? {}),
})
const eventPart = z.looseObject({ text: z.string().nullish(), functionCall: toolUse.nullish() })

/** Newer versions of ADK keep the events of a turn instead of its calls. */
const invocationEvent = z.preprocess(
  camelKeys,
  z.looseObject({
    author: z.string(),
    content: z.looseObject({ parts: z.array(z.preprocess(camelKeys, eventPart)).nullish() }).nullish(),
  }),
)
const intermediateData = z
  .looseObject({
    toolUses: z.array(toolUse).nullish(),
    intermediateResponses: z.array(z.tuple([z.string(), parts])).nullish(),
    invocationEvents: z.array(invocationEvent).nullish(),
  })
  .nullish()
  .transform((data) => {
    const events = (data?.invocationEvents ?? []).map(
      ({ author, content: said }) => [author, said?.parts ?? []] as const,
    )
    return {
      toolUses: data?.toolUses ?? events.flatMap(([, all]) => all.flatMap(({ functionCall }) => functionCall ?? [])),
      intermediateResponses:
        data?.intermediateResponses ??
        events.flatMap(([author, all]) => {
          const texts = all.flatMap(({ text }) => (text ? [{ text }] : []))
          return texts.length === 0 ? [] : [[author, texts] as const]
        }),
    }
  })

const invocation = z.preprocess(
  camelKeys,
  z.object({
    invocationId: z.string().default(''),
    userContent: content,
    finalResponse: content.nullish().transform((value) => value ?? undefined),
    intermediateData: z.preprocess(camelKeys, intermediateData),
    creationTimestamp: z.number().default(0),
  }),
)
const sessionInput = z.preprocess(
  camelKeys,
  z.object({ appName: z.string(), userId: z.string(), state: json.default({}) }),
)

export const evalCaseSchema = z.preprocess(
  camelKeys,
  z.object({
    evalId: z.string().min(1).max(200),
    // A case may have a scenario for a simulated user instead.
    conversation: z
      .array(invocation)
      .max(1000)
      .nullish()
      .transform((turns) => turns ?? []),
    sessionInput: sessionInput.nullish().transform((value) => value ?? undefined),
    finalSessionState: unset(json),
    creationTimestamp: z.number().default(0),
  }),
) as unknown as z.ZodType<EvalCase>

export const evalSetSchema = z.preprocess(
  camelKeys,
  z.object({
    evalSetId: z
      .string()
      .min(1)
      .max(200)
      .regex(/^[\w.-]+$/, 'only letters, digits, `_`, `-` and `.`'),
    name: unset(z.string()),
    description: unset(z.string()),
    evalCases: z.array(evalCaseSchema).max(1000).default([]),
    creationTimestamp: z.number().default(0),
  }),
) as unknown as z.ZodType<EvalSet>

/** The set that a file of ADK's holds; an error names the field. */
export function readEvalSet(value: unknown, file: string): EvalSet {
  const read = evalSetSchema.safeParse(value)
  if (read.success) return read.data
  const [issue] = read.error.issues
  throw new MillraceError('invalid', `${file} is no evaluation set: ${issue?.path.join('.')}: ${issue?.message}`)
}

export const evalMetricSchema = z.preprocess(
  camelKeys,
  z.object({
    metricName: z.string(),
    threshold: z.number(),
    criterion: z
      .preprocess(
        camelKeys,
        z.looseObject({ matchType: z.enum(['EXACT', 'IN_ORDER', 'ANY_ORDER']).nullish() }).nullish(),
      )
      .transform((value) => (value?.matchType ? { matchType: value.matchType } : undefined)),
  }),
) as unknown as z.ZodType<EvalMetric>

/** The top-level keys in camelCase. Values, such as the arguments of a call, keep their own keys. */
function camelKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase()), field]),
  )
}
