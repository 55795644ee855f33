import { MillraceError } from '@millrace/core'
import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { HttpDeps } from '../deps.ts'
import { validateBody } from '../doors/validate-body.ts'
import { documented, hidden } from '../surface.ts'
import { knownApp } from './adk-session.ts'

type InApp = { Params: { app: string } }

const finalizeBody = z.looseObject({ connectorName: z.string(), userId: z.string(), consentNonce: z.string() })

/** Calls of adk-web that ask for one thing out of a collection that is empty here, or want something made in it. */
const refused = [
  ['POST', 'eval-sets', 'evaluation'],
  ['GET', 'eval-sets/:set', 'evaluation'],
  ['DELETE', 'eval-sets/:set', 'evaluation'],
  ['POST', 'eval-sets/:set/run', 'evaluation'],
  ['GET', 'eval_sets/:set/evals', 'evaluation'],
  ['POST', 'eval_sets/:set/add_session', 'evaluation'],
  ['GET', 'eval_sets/:set/evals/:case', 'evaluation'],
  ['PUT', 'eval_sets/:set/evals/:case', 'evaluation'],
  ['DELETE', 'eval_sets/:set/evals/:case', 'evaluation'],
  ['GET', 'eval_results/:result', 'evaluation'],
  ['GET', 'tests/:test', 'test'],
  ['PUT', 'tests/:test', 'test'],
  ['DELETE', 'tests/:test', 'test'],
  ['POST', 'tests/rebuild', 'test'],
  ['POST', 'tests/run', 'test'],
] as const

/**
 * What adk-web asks of an ADK server that Millrace has not got: evaluation, its own tests, the YAML builder. Empty
 * lists make it hide them; whatever names a thing in them is a 404.
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
      empty(`${prefix}/apps/:app/eval_sets`, 'Evaluation sets', [])
      empty(`${prefix}/apps/:app/eval_results`, 'Evaluation results', [])
      for (const [method, path, what] of refused) {
        const url = `${prefix}/apps/:app/${path}`
        const effect = method === 'GET' ? 'read' : 'write'
        app.route({ method, url, ...hidden({ effect }), handler: async () => noneOf(what) })
      }
    }
    empty('/dev/apps/:app/eval-sets', 'Evaluation sets', { evalSetIds: [] })
    empty('/dev/apps/:app/metrics-info', 'Evaluation metrics', { metricsInfo: [] })
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
    // The builder sends files; they are read up to the limit of a body, and dropped.
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
        summary: 'The end of a consent: no agent here asks for one',
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
  throw new MillraceError('not-found', `there is no ${what} here`)
}
