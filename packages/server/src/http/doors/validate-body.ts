import type {} from '@fastify/swagger'
import type { MillraceError } from '@millrace/core'
import type { FastifyContextConfig, FastifySchema } from 'fastify'
import { z } from 'zod'
import { refuse } from './problem.ts'

/** Validates what came in at a door; 422 with the path of every bad field. */
export function validateBody<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const errors = result.error.issues.map((issue) => ({ path: pathOf(issue.path), message: issue.message }))
  throw bodyRefusal(errors)
}

/** `newMessage.parts[0].text`: the same spelling as the AG-UI reader's. */
function pathOf(path: readonly PropertyKey[]): string {
  return path.map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i === 0 ? '' : '.'}${String(key)}`)).join('')
}

/** The same refusal for readers that are not zod schemas. */
export function bodyRefusal(errors: readonly { readonly path: string; readonly message: string }[]): MillraceError {
  const first = errors[0]
  const where = first === undefined || first.path === '' ? '' : `${first.path}: `
  return refuse('unprocessable', `${where}${first?.message ?? 'the request is not acceptable'}`, { errors })
}

export interface RouteDoc {
  readonly tag: 'AG-UI' | 'ADK' | 'Studio' | 'Plan' | 'Session' | 'Service'
  readonly summary: string
  readonly body?: z.ZodType
  readonly query?: z.ZodType
  /** What a good answer is, in words; streams say which dialect. */
  readonly answer: string
  /** Its shape, where it is JSON. */
  readonly result?: z.ZodType | Readonly<Record<string, unknown>>
  /** Its media type, where it is neither JSON nor a stream. */
  readonly type?: string
  readonly status?: number
  readonly stream?: boolean
  /** It starts a run: such requests are counted against the user's rate. */
  readonly starts?: boolean
  /** What bodies it takes besides JSON. */
  readonly takes?: readonly string[]
}

declare module 'fastify' {
  interface FastifyContextConfig {
    startsRun?: boolean
    doc?: RouteDoc
  }
}

/** What a route is, told once: to OpenAPI, to the rate limit and to the problems it may answer with. */
export function documented(doc: RouteDoc): { config: FastifyContextConfig } {
  const { starts = false } = doc
  const json = isJsonOnly(doc)
  return {
    config: { doc, ...(json ? { problemType: 'application/json' } : {}), ...(starts ? { startsRun: true } : {}) },
  }
}

/** Their official clients parse no other type; the body is the same. */
function isJsonOnly({ tag }: RouteDoc): boolean {
  return tag === 'AG-UI' || tag === 'ADK'
}

/**
 * A route as OpenAPI has it, made when somebody asks: a hundred routes cost a start a tenth of a second. Documentation
 * only: `admit` does the validating, with better errors than ajv, and nothing is cut from an answer.
 */
export function schemaOf(doc: RouteDoc): FastifySchema {
  const { tag, summary, body, query, status = 200 } = doc
  const problem = { schema: { $ref: 'Problem#' } }
  const refused = {
    description: 'A problem',
    content: { [isJsonOnly(doc) ? 'application/json' : 'application/problem+json']: problem },
  }
  return {
    tags: [tag],
    summary,
    ...(body === undefined ? {} : { body: jsonSchema(body, 'input') }),
    ...(doc.takes === undefined ? {} : { consumes: [...doc.takes] }),
    ...(query === undefined ? {} : { querystring: jsonSchema(query, 'input') }),
    response: { [status]: good(doc), '4XX': refused, '5XX': refused },
  }
}

function good({ tag, answer, result, type, stream = false, status }: RouteDoc): object {
  const text = { schema: { type: 'string' } }
  if (stream) {
    const binary = tag === 'AG-UI' ? { 'application/vnd.ag-ui.event+proto': text } : {}
    return { description: answer, content: { 'text/event-stream': text, ...binary } }
  }
  if (type !== undefined) return { description: answer, content: { [type]: text } }
  if (status === 204) return { description: answer, type: 'null' }
  const schema = result instanceof z.ZodType ? jsonSchema(result, 'output') : (result ?? {})
  return { description: answer, content: { 'application/json': { schema } } }
}

export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _, $defs: __, ...json } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  // Only `z.json()` is recursive, and JSON that may be any JSON needs no schema.
  const any = (value: object): object => ('$ref' in value ? {} : value)
  return JSON.parse(JSON.stringify(json), (_key, value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) ? any(value) : value,
  ) as Record<string, unknown>
}
