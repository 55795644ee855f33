import { type Json, type JsonObject, MillraceError, type Outcome } from '@millrace/core'
import { z } from 'zod'
import type { RequestPrint, TapedAnswer } from '../agent/model/tape.ts'

/** A recorded run as a test: what was said, what the models answered, and what must come out. The form of a case's file. */
export interface RecordedCase {
  /** The version of this form. */
  readonly case: 1
  readonly agent: string
  readonly description?: string
  /** The state in which the session begins. */
  readonly begin?: JsonObject
  readonly turns: readonly CaseTurn[]
  /** The state at the end, without keys `temp:`. */
  readonly state?: JsonObject
  readonly judge: CaseJudge
  /** What the models answered, for each agent in order. Absent in a case that needs a model. */
  readonly answers?: Readonly<Record<string, readonly RecordedAnswer[]>>
}

/** One run: a message of the user, or the answer to the questions that the run before asked. */
export interface CaseTurn {
  readonly user?: string
  /** The parts of a message that is not only text. */
  readonly parts?: readonly JsonObject[]
  /** Answers every open question; null declines. */
  readonly answer?: Json
  /** Fields that the dialect passes on to the agent. */
  readonly props?: JsonObject
  readonly expect?: TurnExpectation
}

export interface TurnExpectation {
  readonly outcome?: Outcome
  readonly tools?: readonly ExpectedTool[]
  readonly response?: string
}

export interface ExpectedTool {
  /** The agent that called. Where no call of a turn has one, only the calls of the conversation itself count, as in ADK. */
  readonly by?: string
  readonly name: string
  readonly args: JsonObject
  /** Made inside of another call, by a specialist. */
  readonly nested?: boolean
}

export interface RecordedAnswer extends TapedAnswer {
  readonly request: RequestPrint
}

export type TrajectoryMatch = 'exact' | 'in-order' | 'any-order'

/** What is judged. What is absent is not. */
export interface CaseJudge {
  readonly trajectory?: TrajectoryMatch
  readonly response?: ResponseJudge
  /** Every figure of a response is in the answer of a tool, or in what the user said. */
  readonly figures?: boolean
  /** Models must be sent what they were sent when the case was recorded. */
  readonly requests?: boolean
  /** The state at the end is `state`; with --live, it has the same keys. `named`: the keys of `state` have its values, others are free. */
  readonly state?: boolean | 'named'
  readonly budget?: CaseBudget
  /** A file beside the case that exports a function as default. */
  readonly assert?: string
}

export interface ResponseJudge {
  /** The same text. With --live, ROUGE-1 of 0.8 or `rouge1`. */
  readonly text?: boolean
  /** The score that the response must reach, as ADK's `response_match_score`. */
  readonly rouge1?: number
  readonly contains?: readonly string[]
  /** A JSON Schema: the response is JSON of this shape. */
  readonly json?: JsonObject
}

export interface CaseBudget {
  readonly seconds?: number
  readonly tokens?: number
  readonly calls?: number
  /** US dollars. */
  readonly cost?: number
}

const json = z.json() as unknown as z.ZodType<Json>
const object = z.record(z.string(), json) as unknown as z.ZodType<JsonObject>
const amount = z.number().nonnegative().optional()
const answer = z.strictObject({
  request: z.strictObject({
    instruction: z.string(),
    tools: z.string(),
    contents: z.array(z.string()),
    words: z.number(),
  }),
  model: z.string().optional(),
  parts: z.array(object),
  usage: object.optional(),
  finish: z.string().optional(),
  error: z.strictObject({ code: z.string(), message: z.string() }).optional(),
  message: object.optional(),
  chunks: z.array(z.union([z.string(), object])).optional(),
})
const turn = z
  .strictObject({
    user: z.string().optional(),
    parts: z.array(object).optional(),
    answer: json.optional(),
    props: object.optional(),
    expect: z
      .strictObject({
        outcome: z.enum(['done', 'failed', 'cancelled', 'interrupted']).optional(),
        tools: z
          .array(
            z.strictObject({
              by: z.string().optional(),
              name: z.string(),
              args: object.default({}),
              nested: z.boolean().optional(),
            }),
          )
          .optional(),
        response: z.string().optional(),
      })
      .optional(),
  })
  .refine(
    ({ user, parts, answer: given, props }) => [user, parts, given, props].some((one) => one !== undefined),
    'a turn needs user, parts, answer or props',
  )
const judge = z.strictObject({
  trajectory: z.enum(['exact', 'in-order', 'any-order']).optional(),
  response: z
    .strictObject({
      text: z.boolean().optional(),
      rouge1: z.number().min(0).max(1).optional(),
      contains: z.array(z.string()).optional(),
      json: object.optional(),
    })
    .optional(),
  figures: z.boolean().optional(),
  requests: z.boolean().optional(),
  state: z.union([z.boolean(), z.literal('named')]).optional(),
  budget: z.strictObject({ seconds: amount, tokens: amount, calls: amount, cost: amount }).optional(),
  assert: z.string().min(1).optional(),
})
const caseSchema = z.strictObject({
  case: z.literal(1),
  agent: z.string().min(1),
  description: z.string().optional(),
  begin: object.optional(),
  turns: z.array(turn).min(1),
  state: object.optional(),
  judge,
  answers: z.record(z.string(), z.array(answer)).optional(),
})

/** The case in a text; an error names the field. */
export function readCase(text: string, file: string): RecordedCase {
  const read = caseSchema.safeParse(parsed(text, file))
  if (read.success) return read.data as RecordedCase
  const [issue] = read.error.issues
  const field = issue?.path.join('.') ?? ''
  throw new MillraceError('invalid', `${file}: ${field === '' ? '' : `${field}: `}${issue?.message ?? 'not a case'}`)
}

/** As it is written to a file. */
export function printCase(one: RecordedCase): string {
  return `${JSON.stringify(one, null, 2)}\n`
}

function parsed(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new MillraceError('invalid', `${file} is not JSON: ${(error as Error).message}`)
  }
}
