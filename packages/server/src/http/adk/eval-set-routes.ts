import { type JsonObject, MillraceError, sessionFacts } from '@millrace/core'
import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { conversationOf } from '../../eval/conversation.ts'
import { evalCaseSchema, evalSetSchema } from '../../eval/eval-schema.ts'
import type { EvalCase, EvalSet } from '../../eval/eval-set.ts'
import type { EvalOwner } from '../../eval/eval-store.ts'
import type { HttpDeps } from '../deps.ts'
import { validateBody } from '../doors/validate-body.ts'
import { adkSessionAt, adkUser } from './adk-session.ts'
import { caseOf, evalBases, evalOwnerOf, knownItem, setOf, undocumented } from './eval-sets.ts'

const setBody = z.looseObject({ eval_set: evalSetSchema }).or(z.looseObject({ evalSet: evalSetSchema }))
const addBody = z.looseObject({ evalId: z.string().min(1).max(200), sessionId: z.string(), userId: z.string() })
type InApp = { Params: { app: string } }
type AtSet = { Params: { app: string; set: string } }
type AtCase = { Params: { app: string; set: string; case: string } }

/** Evaluation sets and their cases, as adk-web edits them. Its releases spell some paths with `_` and some with `-`. */
export const adkEvalSetRoutes =
  (deps: HttpDeps): FastifyPluginAsync =>
  async (app) => {
    const { evals } = deps
    const save = (owner: EvalOwner, set: string, edit: (cases: readonly EvalCase[]) => readonly EvalCase[]) =>
      evals.change(owner, set, (before) => {
        const found = knownItem(before, `evaluation set ${set}`)
        return { ...found, evalCases: edit(found.evalCases) }
      })
    const create = async (owner: EvalOwner, set: EvalSet): Promise<EvalSet> => {
      const made = { ...set, creationTimestamp: set.creationTimestamp || deps.now() / 1000 }
      await evals.change(owner, set.evalSetId, (before) => {
        if (before === undefined) return made
        throw new MillraceError('conflict', `the evaluation set ${set.evalSetId} exists already; choose another name`)
      })
      return made
    }

    for (const { base, declare } of evalBases) {
      app.get<InApp>(
        `${base}/eval_sets`,
        declare({ effect: 'read', summary: 'Evaluation sets', answer: 'Ids', result: z.array(z.string()) }),
        async (request) => evals.sets(evalOwnerOf(deps, request, request.params.app)),
      )
      app.get<InApp>(
        `${base}/eval-sets`,
        undocumented({ effect: 'read', summary: 'Evaluation sets', answer: 'Ids', result: z.looseObject({}) }),
        async (request) => ({ evalSetIds: await evals.sets(evalOwnerOf(deps, request, request.params.app)) }),
      )
      app.post<InApp>(
        `${base}/eval-sets`,
        declare({
          effect: 'write',
          summary: 'Create an evaluation set',
          body: setBody,
          answer: 'The set',
          result: z.looseObject({}),
        }),
        async (request) => {
          const body = validateBody(setBody, request.body)
          const set = 'eval_set' in body ? body.eval_set : body.evalSet
          return create(evalOwnerOf(deps, request, request.params.app), set as EvalSet)
        },
      )
      app.post<AtSet>(
        `${base}/eval_sets/:set`,
        undocumented({
          effect: 'write',
          summary: 'Create an empty evaluation set',
          answer: 'The set',
          result: z.looseObject({}),
        }),
        async (request) =>
          create(
            evalOwnerOf(deps, request, request.params.app),
            validateBody(evalSetSchema, { evalSetId: request.params.set, evalCases: [] }),
          ),
      )
      for (const sets of ['eval_sets', 'eval-sets']) {
        const declared = sets === 'eval_sets' ? declare : undocumented
        app.get<AtSet>(
          `${base}/${sets}/:set`,
          declared({ effect: 'read', summary: 'An evaluation set', answer: 'The set', result: z.looseObject({}) }),
          async (request) => setOf(deps, evalOwnerOf(deps, request, request.params.app), request.params.set),
        )
        app.delete<AtSet>(
          `${base}/${sets}/:set`,
          declared({
            effect: 'write',
            summary: 'Delete an evaluation set',
            answer: 'null',
            result: { type: 'null' },
          }),
          async (request, reply) => {
            const owner = evalOwnerOf(deps, request, request.params.app)
            await setOf(deps, owner, request.params.set)
            await evals.change(owner, request.params.set, () => undefined)
            return reply.type('application/json').send('null')
          },
        )
      }
      app.get<AtSet>(
        `${base}/eval_sets/:set/evals`,
        declare({ effect: 'read', summary: 'The cases of a set', answer: 'Ids', result: z.array(z.string()) }),
        async (request) =>
          (await setOf(deps, evalOwnerOf(deps, request, request.params.app), request.params.set)).evalCases.map(
            ({ evalId }) => evalId,
          ),
      )
      app.get<AtCase>(
        `${base}/eval_sets/:set/evals/:case`,
        declare({ effect: 'read', summary: 'A case', answer: 'The case', result: z.looseObject({}) }),
        async (request) =>
          caseOf(
            await setOf(deps, evalOwnerOf(deps, request, request.params.app), request.params.set),
            request.params.case,
          ),
      )
      app.put<AtCase>(
        `${base}/eval_sets/:set/evals/:case`,
        declare({
          effect: 'write',
          summary: 'Change a case',
          body: evalCaseSchema,
          answer: 'null',
          result: { type: 'null' },
        }),
        async (request, reply) => {
          const { set, case: id } = request.params
          const owner = evalOwnerOf(deps, request, request.params.app)
          caseOf(await setOf(deps, owner, set), id)
          const changed = { ...validateBody(evalCaseSchema, request.body), evalId: id }
          await save(owner, set, (cases) => cases.map((one) => (one.evalId === id ? changed : one)))
          return reply.type('application/json').send('null')
        },
      )
      app.delete<AtCase>(
        `${base}/eval_sets/:set/evals/:case`,
        declare({ effect: 'write', summary: 'Delete a case', answer: 'null', result: { type: 'null' } }),
        async (request, reply) => {
          const { set, case: id } = request.params
          const owner = evalOwnerOf(deps, request, request.params.app)
          caseOf(await setOf(deps, owner, set), id)
          await save(owner, set, (cases) => cases.filter(({ evalId }) => evalId !== id))
          return reply.type('application/json').send('null')
        },
      )
      app.post<AtSet>(
        `${base}/eval_sets/:set/add_session`,
        declare({
          effect: 'write',
          summary: 'Add a session to a set, as a case',
          body: addBody,
          answer: 'null',
          result: { type: 'null' },
        }),
        async (request, reply) => {
          const { evalId, sessionId, userId } = validateBody(addBody, request.body)
          const owner = evalOwnerOf(deps, request, request.params.app)
          const user = adkUser(request, userId)
          const session = await adkSessionAt(deps, request, { app: owner.app, user, id: sessionId })
          const rows = await deps.own(request).log.read(session.id, { after: 0 })
          const opening = rows.slice(
            0,
            rows.findIndex(({ event }) => event.kind === 'run.started'),
          )
          const state: JsonObject = sessionFacts(opening).state
          const made: EvalCase = {
            evalId,
            conversation: conversationOf(rows),
            sessionInput: { appName: owner.app, userId: user, state },
            creationTimestamp: deps.now() / 1000,
          }
          await save(owner, request.params.set, (cases) => {
            if (!cases.some((one) => one.evalId === evalId)) return [...cases, made]
            throw new MillraceError('conflict', `the set has a case ${evalId} already; choose another name`)
          })
          return reply.type('application/json').send('null')
        },
      )
    }
  }
