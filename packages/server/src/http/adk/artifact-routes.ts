import { type ArtifactSaved, MillraceError, type Recorded } from '@millrace/core'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { HttpDeps } from '../deps.ts'
import { shapeOf } from '../openapi/answers.ts'
import { documented } from '../surface.ts'
import { type AdkPath, adkSessionAt } from './adk-session.ts'

const versionQuery = z.object({ version: z.string().optional() })
type At = { Params: AdkPath & { name: string; version: string }; Querystring: { version?: string } }

/** ADK artifacts: named, versioned, kept in the log. A name is only compared, and never used as a path. */
export const adkArtifactRoutes =
  (deps: HttpDeps): FastifyPluginAsync =>
  async (app) => {
    const base = '/apps/:app/users/:user/sessions/:id/artifacts'
    const artifacts = async (request: FastifyRequest<At>): Promise<readonly ArtifactSaved[]> => {
      const session = await adkSessionAt(deps, request, request.params)
      const { log } = deps.own(request)
      const rows = await log.read(session.id, { after: 0 })
      const own = countedIn(rows).filter(({ name }) => !name.startsWith('user:'))
      return artifactsIn([...own, ...(await log.sharedArtifacts(session))])
    }
    const versions = async (request: FastifyRequest<At>) =>
      (await artifacts(request)).filter(({ name }) => name === request.params.name)
    const partOf = (found: readonly ArtifactSaved[], name: string, version: string | undefined) => {
      const wanted =
        version === undefined || version === ''
          ? found.at(-1)
          : found.find((artifact) => String(artifact.version) === version)
      if (wanted?.part === undefined) throw new MillraceError('not-found', `Artifact not found: ${name}`)
      return wanted.part
    }

    app.get<At>(
      base,
      documented({
        effect: 'read',
        whole: true,
        summary: 'The artifacts of a session',
        answer: 'Names',
        result: z.array(z.string()),
      }),
      async (request) => [...new Set((await artifacts(request)).map(({ name }) => name))],
    )
    app.get<At>(
      `${base}/:name`,
      documented({
        effect: 'read',
        whole: true,
        summary: 'An artifact, the latest version or ?version=',
        query: versionQuery,
        answer: 'A part',
        result: shapeOf('AdkPart'),
      }),
      async (request) => partOf(await versions(request), request.params.name, request.query.version),
    )
    app.get<At>(
      `${base}/:name/versions`,
      documented({
        effect: 'read',
        whole: true,
        summary: 'The versions of an artifact',
        answer: 'Numbers',
        result: z.array(z.int()),
      }),
      async (request) => (await versions(request)).map(({ version }) => version),
    )
    app.get<At>(
      `${base}/:name/versions/:version`,
      documented({
        effect: 'read',
        whole: true,
        summary: 'A version of an artifact',
        answer: 'A part',
        result: shapeOf('AdkPart'),
      }),
      async (request) => partOf(await versions(request), request.params.name, request.params.version),
    )
    app.delete<At>(
      `${base}/:name`,
      documented({ effect: 'write', summary: 'Delete an artifact', answer: 'null', result: { type: 'null' } }),
      async (request, reply) => {
        const last = (await versions(request)).at(-1)
        if (last === undefined) throw new MillraceError('not-found', `Artifact not found: ${request.params.name}`)
        const { part: _part, ...rest } = last
        await deps.own(request).log.append(request.params.id, [{ run: '', event: { ...rest, deleted: true } }])
        return reply.type('application/json').send('null')
      },
    )
  }

/** What was saved and deleted, without what a step did that a crash cut off and that ran again (SPEC 4.6). */
function countedIn(rows: readonly Recorded[]): readonly ArtifactSaved[] {
  const lost = new Map<string, number>()
  for (const { event, run, seq } of rows) {
    if (event.kind !== 'superseded' || event.facts !== true) continue
    for (const node of event.nodes) lost.set(`${run}\n${node}`, seq)
  }
  return rows.flatMap(({ event, run, seq }) =>
    event.kind === 'artifact' && seq > (lost.get(`${run}\n${event.node}`) ?? 0) ? [event] : [],
  )
}

/** The artifacts that exist, oldest version first. A deletion removes all versions before it. */
function artifactsIn(events: readonly ArtifactSaved[]): readonly ArtifactSaved[] {
  let found: ArtifactSaved[] = []
  for (const event of events) {
    if (event.deleted === true) found = found.filter(({ name }) => name !== event.name)
    else found.push(event)
  }
  return found
}
