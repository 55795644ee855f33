import { type Change, type ChangePlan, type ChangeRefusal, forkSession, MillraceError } from '@millrace/core'
import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { HttpDeps } from '../deps.ts'
import { userFor } from '../doors/access.ts'
import { sessionForRequest } from '../doors/session-access.ts'
import { validateBody } from '../doors/validate-body.ts'
import { shapeOf } from '../openapi/answers.ts'
import { boundState } from '../run-input.ts'
import { documented } from '../surface.ts'

const run = z.string().min(1).max(200).describe('The run that is changed')
const call = z.string().min(1).max(500)
const patchOp = z.looseObject({
  op: z.enum(['add', 'replace', 'test', 'remove', 'move', 'copy']),
  path: z.string().max(2000),
})
const content = z.looseObject({
  role: z.string().max(100).optional(),
  parts: z.array(z.looseObject({ text: z.string().optional() })).max(1000),
})
const change = z.discriminatedUnion('field', [
  z.object({
    field: z.literal('message'),
    run,
    text: z.string().min(1).describe('Takes the place of what the user said'),
  }),
  z.object({
    field: z.literal('state'),
    run,
    seq: z.number().int().min(1).describe('The state changes after this row of the run'),
    patch: z.array(patchOp).min(1).max(1000).describe('A JSON Patch (RFC 6902) of the state there'),
  }),
  z.object({
    field: z.literal('tool'),
    run,
    call: call.describe('The id of the function call'),
    result: z.record(z.string(), z.json()).describe('Takes the place of the result'),
  }),
  z.object({
    field: z.literal('prompt'),
    run,
    call: call.describe('The call of `model.started`'),
    system: z.string().optional().describe('Another system instruction; absent: as it was'),
    contents: z.array(content).min(1).max(10_000).optional().describe('Other contents; absent: as they were'),
  }),
])
const planBody = z.object({ change })
const runOnBody = z.object({
  change,
  id: z.string().min(1).max(200).optional().describe('The id of the new session'),
  title: z.string().max(200).optional(),
})
/** Change one thing of a run, and let it go on from there in a new session (SPEC 4.10). */
export const changeRoutes =
  (deps: HttpDeps): FastifyPluginAsync =>
  async (app) => {
    type ById = { Params: { id: string } }

    app.post<ById>(
      '/sessions/:id/run-on/plan',
      documented({
        effect: 'read',
        whole: true,
        summary: 'What a run with one thing changed would reuse; nothing runs',
        body: planBody,
        answer: 'What is reused and what runs again, or why the change cannot be made',
        result: { oneOf: [shapeOf('ChangePlan'), shapeOf('ChangeRefusal')] },
      }),
      async (request) => {
        const { change } = bounded(deps, validateBody(planBody, request.body))
        const source = await sessionForRequest(deps, request, request.params.id)
        const by = userFor(request)
        // A page asks before it offers a change, so a change that cannot be made is an answer here and no error.
        return deps
          .own(request)
          .engine.planChange({ session: source.id, id: source.id, change, by })
          .then(planOf, refusalOf)
      },
    )

    app.post<ById>(
      '/sessions/:id/run-on',
      documented({
        effect: 'start',
        whole: true,
        summary: 'Change one thing of a run and run on from there, in a new session',
        body: runOnBody,
        answer: 'The new session and the run in it',
        result: {
          type: 'object',
          required: ['session', 'run', 'seq', 'plan'],
          properties: {
            session: shapeOf('Session'),
            run: { type: 'string' },
            seq: { type: 'integer' },
            plan: shapeOf('ChangePlan'),
          },
        },
        status: 201,
      }),
      async (request, reply) => {
        const { change, id = deps.newId(), title } = bounded(deps, validateBody(runOnBody, request.body))
        const source = await sessionForRequest(deps, request, request.params.id)
        const { log, engine } = deps.own(request)
        const start = await engine.planChange({ session: source.id, id: source.id, change, by: userFor(request) })
        const before = ((await log.startOf(source.id, change.run)) ?? 1) - 1
        const fork = await forkSession(log, source.id, before, id)
        try {
          if (title !== undefined) await log.rename(fork.id, title)
          const { run, seq } = await engine.runOn({ session: fork.id, user: source.user, start })
          request.about = { session: fork.id, run }
          const session = (await log.get(fork.id)) ?? fork
          return await reply.code(201).send({ session, run, seq, plan: planOf(start) })
        } catch (error) {
          // A session in which nothing runs is of no use: the client is told why, and may try again.
          await log.remove(fork.id).catch(() => {})
          throw error
        }
      },
    )
  }

const refusals: ReadonlySet<string> = new Set(['conflict', 'not-found', 'limit', 'invalid'])

function refusalOf(error: unknown): ChangeRefusal {
  if (!(error instanceof MillraceError) || !refusals.has(error.code)) throw error
  return { refusal: error.message }
}

function planOf({ agent, run, seq, reused, again }: ChangePlan): ChangePlan {
  return { agent, run, seq, reused, again }
}

/** What a person sends as state, result or request has the bounds of a state. */
function bounded<B extends { readonly change: unknown }>(deps: HttpDeps, body: B): B & { readonly change: Change } {
  boundState(deps.limits, { change: body.change } as never, 'change')
  return body as B & { readonly change: Change }
}
