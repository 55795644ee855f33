import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { httpCodes } from '../doors/problem.ts'
import { documented, schemaOf } from '../doors/validate-body.ts'
import { shareShapes } from './answers.ts'
import { docsPage } from './docs-page.ts'

const problem = {
  $id: 'Problem',
  description: 'RFC 9457 problem details; `code` is closed, programs decide on it.',
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

/** Must be registered before the routes it describes. */
export async function describeApi(
  app: FastifyInstance,
  version: string,
  tokens: boolean,
  isOpen: (path: string) => boolean,
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
      servers: [{ url: '.', description: 'Where this document is' }],
      ...(tokens ? { components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } } } : {}),
      security: tokens ? [{ token: [] }] : [{}],
      tags: [
        { name: 'AG-UI', description: 'AG-UI 1.0: start a run, stream it' },
        { name: 'ADK', description: 'Google ADK: run_sse, sessions, artifacts, and what adk-web calls' },
        { name: 'Studio', description: 'ADK Studio SSE v2' },
        { name: 'Plan', description: 'Plan and execute: chat, tasks, artifacts, data items' },
        { name: 'Session', description: 'Any session: re-join, cancel, fork, state, views, log' },
        { name: 'Service', description: 'Health, metrics, this document' },
      ],
    },
    transform: ({ schema, url, route }) => ({
      schema: {
        ...(schema?.hide === true || route.config?.doc === undefined ? schema : schemaOf(route.config.doc)),
        ...(tokens && isOpen(url) && route.method === 'GET' ? { security: [] } : {}),
        operationId: operationId([route.method].flat()[0] ?? '', url),
      } as typeof schema,
      url,
    }),
    refResolver: { buildLocalReference: (json, _base, _fragment, i) => String(json.$id ?? `def-${i}`) },
  })
  const doc = { tag: 'Service', answer: 'The OpenAPI 3.1 document' } as const
  app.get(
    '/openapi.json',
    documented({ ...doc, summary: 'This API as OpenAPI', result: { type: 'object' } }),
    async () => app.swagger(),
  )
  app.get(
    '/docs',
    documented({ ...doc, summary: 'This API for people', answer: 'A page', type: 'text/html' }),
    async (_request, reply) => reply.type('text/html; charset=utf-8').send(docsPage(app.swagger())),
  )
}

/** `GET /sessions/:id/tasks` is getSessionsIdTasks: stable, unique, and a name in every language. */
function operationId(method: string, url: string): string {
  const words = url.split(/[^a-zA-Z0-9_]+/).filter((word) => word !== '')
  const name = (words.length === 0 ? ['root'] : words)
    .map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`)
    .join('')
  return `${method.toLowerCase()}${name}`
}
