import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { evalMetricSchema } from '../../eval/eval-schema.ts'
import type { EvalCaseResult, EvalMetric, EvalSetResult } from '../../eval/eval-set.ts'
import { runCase } from '../../eval/run-case.ts'
import { defaultMetrics, metricsInfo } from '../../eval/score.ts'
import type { HttpDeps } from '../deps.ts'
import { validateBody } from '../doors/validate-body.ts'
import { adkUser, knownApp } from './adk-session.ts'
import { caseOf, evalBases, evalOwnerOf, knownItem, setOf, undocumented } from './eval-sets.ts'

const runBody = z.looseObject({
  evalIds: z.array(z.string()).nullish(),
  eval_case_ids: z.array(z.string()).nullish(),
  evalMetrics: z.array(evalMetricSchema).nullish(),
  eval_metrics: z.array(evalMetricSchema).nullish(),
})
type InApp = { Params: { app: string } }
type AtSet = { Params: { app: string; set: string } }

/** Evaluating the cases of a set, and the results, which are kept. */
export const adkEvalRunRoutes =
  (deps: HttpDeps): FastifyPluginAsync =>
  async (app) => {
    const { evals } = deps
    const evaluate = async (request: FastifyRequest<AtSet>): Promise<readonly EvalCaseResult[]> => {
      const owner = evalOwnerOf(deps, request, request.params.app)
      const set = await setOf(deps, owner, request.params.set)
      const body = validateBody(runBody, request.body)
      const metrics = (body.evalMetrics ?? body.eval_metrics ?? defaultMetrics) as readonly EvalMetric[]
      const wanted = body.evalIds ?? body.eval_case_ids ?? []
      const cases = wanted.length === 0 ? set.evalCases : wanted.map((id) => caseOf(set, id))
      const results: EvalCaseResult[] = []
      for (const one of cases) {
        const user = adkUser(request, one.sessionInput?.userId ?? 'user')
        const parts = { ...deps, ...deps.own(request), user, agent: owner.app, evalSetId: set.evalSetId, metrics }
        results.push(await runCase(parts, one))
      }
      await evals.saveResult(owner, resultOf(owner.app, set.evalSetId, results, deps.now() / 1000))
      return results
    }
    const doc = { effect: 'start', summary: 'Evaluate cases', body: runBody } as const

    for (const { base, declare } of evalBases) {
      app.post<AtSet>(
        `${base}/eval_sets/:set/run_eval`,
        declare({ ...doc, answer: 'A result for each case', result: z.array(z.looseObject({})) }),
        evaluate,
      )
      app.post<AtSet>(
        `${base}/eval-sets/:set/run`,
        undocumented({ ...doc, answer: 'A result for each case', result: z.looseObject({}) }),
        async (request) => ({ runEvalResults: await evaluate(request) }),
      )
      app.get<InApp>(
        `${base}/eval_results`,
        declare({ effect: 'read', summary: 'Evaluation results', answer: 'Ids', result: z.array(z.string()) }),
        async (request) => evals.results(evalOwnerOf(deps, request, request.params.app)),
      )
      app.get<{ Params: { app: string; result: string } }>(
        `${base}/eval_results/:result`,
        undocumented({
          effect: 'read',
          summary: 'An evaluation result',
          answer: 'The result',
          result: z.looseObject({}),
        }),
        async (request) => {
          const { app: name, result } = request.params
          return knownItem(await evals.result(evalOwnerOf(deps, request, name), result), `evaluation result ${result}`)
        },
      )
      for (const path of ['metrics-info', 'eval_metrics']) {
        app.get<InApp>(
          `${base}/${path}`,
          (path === 'metrics-info' ? declare : undocumented)({
            effect: 'read',
            summary: 'Evaluation metrics',
            answer: 'Metrics',
            result: z.looseObject({}),
          }),
          async ({ params }) => {
            knownApp(deps, params.app)
            return { metricsInfo }
          },
        )
      }
    }
  }

/** adk-web makes the id of a result from these three parts. */
function resultOf(
  app: string,
  evalSetId: string,
  evalCaseResults: readonly EvalCaseResult[],
  at: number,
): EvalSetResult {
  const id = `${app}_${evalSetId}_${at}`
  return { evalSetResultId: id, evalSetResultName: id, evalSetId, evalCaseResults, creationTimestamp: at }
}
