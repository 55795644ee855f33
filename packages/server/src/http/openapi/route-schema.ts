import type {} from '@fastify/swagger'
import { defined } from '@millrace/core'
import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import type { RouteDoc, Surface } from '../surface.ts'

/**
 * A route as OpenAPI describes it. It is made when the document is requested, because a hundred routes would add a tenth
 * of a second to every start. It is documentation only: `validateBody` validates, and answers are sent as they are.
 */
export function schemaOf(doc: RouteDoc, { tag, problemType = 'application/problem+json' }: Surface): FastifySchema {
  const { summary, body, query, takes, status = 200 } = doc
  const refused = { description: 'A problem', content: { [problemType]: { schema: { $ref: 'Problem#' } } } }
  return {
    tags: [tag],
    summary,
    ...defined({
      body: body && jsonSchema(body, 'input'),
      consumes: takes && [...takes],
      querystring: query && jsonSchema(query, 'input'),
    }),
    response: { [status]: good(doc), '4XX': refused, '5XX': refused },
  }
}

function good({ answer, result, type, stream = false, streamTypes = [], status }: RouteDoc): object {
  const text = { schema: { type: 'string' } }
  if (stream) {
    const types = ['text/event-stream', ...streamTypes]
    return { description: answer, content: Object.fromEntries(types.map((each) => [each, text])) }
  }
  if (type !== undefined) return { description: answer, content: { [type]: text } }
  if (status === 204) return { description: answer, type: 'null' }
  const schema = result instanceof z.ZodType ? jsonSchema(result, 'output') : (result ?? {})
  return { description: answer, content: { 'application/json': { schema } } }
}

export function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _, $defs: __, ...json } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  // Only `z.json()` is recursive, and a field that may hold any JSON needs no schema.
  const any = (value: object): object => ('$ref' in value ? {} : value)
  return JSON.parse(JSON.stringify(json), (_key, value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) ? any(value) : value,
  ) as Record<string, unknown>
}
