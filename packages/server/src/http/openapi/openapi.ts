import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { httpCodes } from '../doors/problem.ts'
import type { Surface } from '../surface.ts'
import { shareShapes } from './answers.ts'
import { schemaOf } from './route-schema.ts'

const problem = {
  $id: 'Problem',
  description: 'RFC 9457 problem details. `code` is one of a closed list, for programs to decide on.',
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: { type: 'string', description: 'urn:millrace:problem:<code>' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', enum: [...httpCodes] },
    error: { type: 'string', description: 'The same as detail, where ADK clients look for it' },
    errors: {
      type: 'array',
      items: { type: 'object', properties: { path: { type: 'string' }, message: { type: 'string' } } },
    },
  },
}

/** Adds the OpenAPI document to the app. Must be called before the routes are registered. */
export async function describeApi(
  app: FastifyInstance,
  version: string,
  tokens: boolean,
  surfaces: readonly Surface[],
): Promise<void> {
  app.addSchema(problem)
  shareShapes(app)
  await app.register(swagger, {
    stripBasePath: false,
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Millrace',
        version,
        description: 'One durable log of agent runs, served in the dialect a client already speaks.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '.', description: 'The folder of this document' }],
      ...(tokens ? { components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } } } : {}),
      security: tokens ? [{ token: [] }] : [{}],
      tags: surfaces.flatMap(({ tag, about }) => (about === undefined ? [] : [{ name: tag, description: about }])),
    },
    transform: ({ schema, url, route }) => {
      const { doc, surface, effect } = route.config ?? {}
      return {
        schema: {
          ...(doc === undefined || surface === undefined ? schema : schemaOf(doc, surface)),
          ...(tokens && effect?.open === true ? { security: [] } : {}),
          ...(effect?.operator === true ? { 'x-operator': true } : {}),
          operationId: operationId([route.method].flat()[0] ?? '', url),
        } as typeof schema,
        url,
      }
    },
    refResolver: { buildLocalReference: (json, _base, _fragment, i) => String(json.$id ?? `def-${i}`) },
  })
}

/** `GET /sessions/:id/tasks` becomes getSessionsIdTasks, which is unique and a valid name in every language. */
function operationId(method: string, url: string): string {
  const words = url.split(/[^a-zA-Z0-9_]+/).filter((word) => word !== '')
  const name = (words.length === 0 ? ['root'] : words)
    .map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`)
    .join('')
  return `${method.toLowerCase()}${name}`
}
