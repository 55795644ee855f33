import { MillraceError } from '@millrace/core'
import type { FastifyRequest } from 'fastify'
import type { EvalCase, EvalSet } from '../../eval/eval-set.ts'
import type { EvalOwner } from '../../eval/eval-store.ts'
import type { HttpDeps } from '../deps.ts'
import { documented, hidden, type RouteDoc } from '../surface.ts'
import { knownApp } from './adk-session.ts'

/**
 * adk-web calls the first paths, ADK's older clients the second; and its releases spell some with `_`, some with `-`. Each
 * operation is in the OpenAPI document once.
 */
export const evalBases = [
  { base: '/dev/apps/:app', declare: documented },
  { base: '/apps/:app', declare: undocumented },
] as const

/** Another spelling of a documented route. */
export function undocumented({ effect }: RouteDoc): ReturnType<typeof hidden> {
  return hidden({ effect })
}

/** The sets of the user who asks. With tokens, each user has sets of their own. */
export const evalOwnerOf = (deps: HttpDeps, request: FastifyRequest, app: string): EvalOwner => ({
  user: request.principal ?? '',
  app: knownApp(deps, app),
})

export const setOf = async ({ evals }: HttpDeps, owner: EvalOwner, id: string): Promise<EvalSet> =>
  knownItem(await evals.set(owner, id), `evaluation set ${id}`)

export const caseOf = ({ evalCases, evalSetId }: EvalSet, id: string): EvalCase =>
  knownItem(
    evalCases.find(({ evalId }) => evalId === id),
    `case ${id} in the evaluation set ${evalSetId}`,
  )

/** The item; a 404 when there is none. */
export function knownItem<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new MillraceError('not-found', `there is no ${what}`)
  return value
}
