import { MillraceError } from '@millrace/core'
import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { HttpDeps } from '../deps.ts'
import { validateBody } from '../doors/validate-body.ts'
import { documented, hidden } from '../surface.ts'
import { knownApp } from './adk-session.ts'

type InApp = { Params: { app: string } }

const finalizeBody = z.looseObject({ connectorName: z.string(), userId: z.string(), consentNonce: z.string() })

/** Calls of adk-web that name or create an item of a collection that is always empty here. */
const refused = [
  ['GET', 'tests/:test', 'test'],
  ['PUT', 'tests/:test', 'test'],
  ['DELETE', 'tests/:test', 'test'],
  ['POST', 'tests/rebuild', 'test'],
  ['POST', 'tests/run', 'test'],
] as const

/**
 * Features that adk-web expects of an ADK server and Millrace does not have: tests, the YAML builder.
 * adk-web hides them when their lists are empty; a request for an item is a 404.
 */
export const adkAbsentRoutes =
  (deps: HttpDeps): FastifyPluginAsync =>
  async (app) => {
    const empty = (path: string, summary: string, answer: object) =>
      app.get<InApp>(
        path,
        documented({ effect: 'read', summary, answer: 'None', result: z.json() }),
        async ({ params }) => knownApp(deps, params.app) && answer,
      )
    for (const prefix of ['/dev', '']) {
      for (const [method, path, what] of refused) {
        const url = `${prefix}/apps/:app/${path}`
        const effect = method === 'GET' ? 'read' : 'write'
        app.route({ method, url, ...hidden({ effect }), handler: async () => noneOf(what) })
      }
    }
    empty('/dev/apps/:app/tests', 'Tests', [])

    app.get<InApp>(
      '/dev/apps/:app/builder',
      documented({
        effect: 'read',
        summary: 'The YAML of an app',
        answer: 'Empty: the builder is off',
        type: 'text/plain',
      }),
      async ({ params }, reply) => {
        knownApp(deps, params.app)
        return reply.type('text/plain').send('')
      },
    )
    // The builder sends files. They are read up to the body limit and discarded.
    app.addContentTypeParser('multipart/form-data', { parseAs: 'buffer' }, (_request, _body, done) =>
      done(null, undefined),
    )
    for (const what of ['save', 'cancel']) {
      app.post(
        `/dev/apps/:app/builder/${what}`,
        documented({
          effect: 'write',
          summary: `Builder: ${what}`,
          answer: 'false: nothing was built',
          result: z.boolean(),
          takes: ['multipart/form-data'],
        }),
        async (_request, reply) => reply.type('application/json').send('false'),
      )
    }
    app.post(
      '/agent-identity/finalize',
      documented({
        effect: 'write',
        summary: 'Finish a consent: no agent here asks for one',
        body: finalizeBody,
        answer: '{ finalized: false }',
        result: z.object({ finalized: z.boolean() }),
      }),
      async (request) => {
        validateBody(finalizeBody, request.body)
        return { finalized: false }
      },
    )
  }

function noneOf(what: string): never {
  throw new MillraceError('not-found', `this server has no ${what}s`)
}
