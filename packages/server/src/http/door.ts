import type {} from '@fastify/swagger'
import { MillraceError } from '@millrace/core'
import type { FastifySchema } from 'fastify'
import { z } from 'zod'

/** Validates what came in at a door; 422 with the path of every bad field. */
export function admit<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const errors = result.error.issues.map((issue) => ({ path: issue.path.join('.'), message: issue.message }))
  throw refusal(errors)
}

/** The same refusal for readers that are not zod schemas. */
export function refusal(errors: readonly { readonly path: string; readonly message: string }[]): MillraceError {
  const first = errors[0]
  const where = first === undefined || first.path === '' ? '' : `${first.path}: `
  return new MillraceError('invalid', `${where}${first?.message ?? 'the request is not acceptable'}`, {
    status: 422,
    errors,
  })
}

export interface RouteDoc {
  readonly tag: 'AG-UI' | 'ADK' | 'Studio' | 'Plan' | 'Session' | 'Service'
  readonly summary: string
  readonly body?: z.ZodType
  readonly query?: z.ZodType
  /** What a good answer looks like, in words; streams say which dialect. */
  readonly answer: string
  readonly status?: number
  readonly stream?: boolean
}

/** What OpenAPI is told about a route. Documentation only: `admit` does the validating, with better errors than ajv. */
export function documented({ tag, summary, body, query, answer, status = 200, stream = false }: RouteDoc): {
  schema: FastifySchema
} {
  const good = stream
    ? { description: answer, content: { 'text/event-stream': { schema: { type: 'string' } } } }
    : { description: answer }
  return {
    schema: {
      tags: [tag],
      summary,
      ...(body === undefined ? {} : { body: jsonSchema(body) }),
      ...(query === undefined ? {} : { querystring: jsonSchema(query) }),
      response: { [status]: good, '4xx': { $ref: 'problem#' } },
    },
  }
}

function jsonSchema(schema: z.ZodType): unknown {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return json
}
