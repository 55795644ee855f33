import {
  type AdkPart,
  fold,
  itemsOf,
  MillraceError,
  type PlanArtifact,
  type PlanData,
  type PlanState,
  type PlanTask,
  planView,
  transcriptView,
} from '@millrace/core'
import type { FastifyRequest } from 'fastify'
import { type LoadedSession, loadSession } from '../../run/load-session.ts'
import type { HttpDeps } from '../deps.ts'
import { sessionForRequest } from '../doors/session-access.ts'

/** A session, and the plan that its rows fold into. */
export interface PlanSession extends LoadedSession {
  readonly plan: PlanState
}

export async function planSession(deps: HttpDeps, request: FastifyRequest, id: string): Promise<PlanSession> {
  const loaded = await loadSession(deps.log, await sessionForRequest(deps, request, id))
  return { ...loaded, plan: fold(planView, loaded.rows) }
}

const iso = (at: number): string => new Date(at).toISOString()

/** Seed 002's task. */
export function taskJson({ info, rows }: PlanSession, task: PlanTask) {
  const { id, title, description = '', status, order, result, reflection, createdAt } = task
  const made = rows.find(({ seq }) => seq === task.since)?.at ?? info.createdAt
  return {
    id,
    sessionId: info.id,
    title,
    description,
    status,
    order,
    createdAt: createdAt ?? iso(made),
    ...(result === undefined ? {} : { result }),
    ...(reflection === undefined ? {} : { reflection }),
  }
}

export function artifactJson({ info, rows }: PlanSession, { id, name, type, version, seq, task }: PlanArtifact) {
  const at = rows.find((row) => row.seq === seq)?.at ?? info.createdAt
  return {
    id,
    sessionId: info.id,
    name,
    type,
    version,
    createdAt: iso(at),
    ...(task === undefined ? {} : { taskId: task }),
  }
}

export function dataJson({ info, rows }: PlanSession, { id, itemType, item, seq, task }: PlanData) {
  const at = rows.find((row) => row.seq === seq)?.at ?? info.createdAt
  return {
    id,
    sessionId: info.id,
    itemType,
    data: item ?? null,
    updatedAt: iso(at),
    ...(task === undefined ? {} : { taskId: task }),
  }
}

/** The session as the plan/execute page reads it; `status` is the plan's, `run` how the last run stands. */
export function detailJson(session: PlanSession) {
  const { info, plan: state } = session
  return {
    ...info,
    status: state.mode,
    run: info.status,
    createdAt: iso(info.createdAt),
    updatedAt: iso(info.updatedAt),
    tasks: state.tasks.toArray().map((task) => taskJson(session, task)),
    messages: messagesJson(session),
    artifacts: artifactsOf(session).map((artifact) => artifactJson(session, artifact)),
    summary: state.summary,
  }
}

/** What was said in the conversation; what was said while working on a task is in the task. */
function messagesJson({ info, rows }: PlanSession) {
  return itemsOf(fold(transcriptView, rows)).flatMap((item) => {
    if (item.kind !== 'message' || item.text === '' || item.superseded === true || item.task !== undefined) return []
    const role = item.role === 'user' ? 'user' : 'assistant'
    return [{ id: item.id, sessionId: info.id, role, content: item.text, author: item.author, createdAt: iso(item.at) }]
  })
}

export function artifactsOf({ plan: state }: PlanSession): readonly PlanArtifact[] {
  return state.artifacts.toArray().filter(({ deleted }) => deleted !== true)
}

export function artifactAt(session: PlanSession, id: string): PlanArtifact {
  const found = artifactsOf(session).find((artifact) => artifact.id === id)
  if (found === undefined) throw new MillraceError('not-found', `no artifact ${id}`)
  return found
}

/** The content itself: the event that saved it is the only copy. */
export function artifactContentOf({ rows }: PlanSession, { content }: PlanArtifact): AdkPart | undefined {
  const row = rows.find(({ seq }) => seq === content)
  return row?.event.kind === 'artifact' ? row.event.part : undefined
}
