import {
  type AdkPart,
  defined,
  itemsOf,
  MillraceError,
  type PlanArtifact,
  type PlanData,
  type PlanState,
  type PlanTask,
  planView,
  type Recorded,
  transcriptView,
  type View,
  wellFormed,
} from '@millrace/core'
import { firstIndexWhere } from '@millrace/core/persistent'
import type { FastifyRequest } from 'fastify'
import { type LoadedSession, loadSession } from '../../run/load-session.ts'
import { ownTurn } from '../../thread/turns.ts'
import type { HttpDeps } from '../deps.ts'
import { sessionForRequest } from '../doors/session-access.ts'

/** A session, its rows, and the plan that they fold into. */
export interface PlanSession extends LoadedSession {
  readonly rows: readonly Recorded[]
  readonly plan: PlanState
}

export async function planSession(deps: HttpDeps, request: FastifyRequest, id: string): Promise<PlanSession> {
  const { log } = deps.own(request)
  const loaded = await loadSession(log, await sessionForRequest(deps, request, id))
  const rows = await log.read(loaded.info.id, { after: 0 })
  return { ...loaded, rows, plan: await foldInTurns(planView, rows) }
}

/** Rows that are folded before other work gets a turn. */
const stretch = 500

async function foldInTurns<State>(view: View<State>, rows: readonly Recorded[]): Promise<State> {
  let state = view.initial
  for (const [i, row] of rows.entries()) {
    if (i % stretch === stretch - 1) await ownTurn()
    state = view.apply(state, row)
  }
  return state
}

const iso = (at: number): string => new Date(at).toISOString()

/** When the row was recorded. */
function timeOf({ info, rows }: PlanSession, seq: number): string {
  const row = rows[firstIndexWhere(rows.length, (at) => (rows[at]?.seq ?? 0) >= seq)]
  return iso(row?.seq === seq ? row.at : info.createdAt)
}

/** A task as the plan/execute contract has it (docs/wires/plan.md). */
export function taskJson(session: PlanSession, task: PlanTask) {
  const { id, title, description = '', status, order, result, reflection, createdAt } = task
  return {
    id,
    sessionId: session.info.id,
    title,
    description,
    status,
    order,
    createdAt: createdAt ?? timeOf(session, task.since),
    ...defined({ result, reflection }),
  }
}

export function artifactJson(session: PlanSession, { id, name, type, version, seq, task }: PlanArtifact) {
  return {
    id,
    sessionId: session.info.id,
    name,
    type,
    version,
    createdAt: timeOf(session, seq),
    ...defined({ taskId: task }),
  }
}

export function dataJson(session: PlanSession, { id, itemType, item, seq, task }: PlanData) {
  return {
    id,
    sessionId: session.info.id,
    itemType,
    data: item ?? null,
    updatedAt: timeOf(session, seq),
    ...defined({ taskId: task }),
  }
}

/** The session as the plan/execute page reads it: `status` is that of the plan, `run` that of the last run. */
export async function detailJson(session: PlanSession) {
  const { info, plan: state } = session
  return {
    ...info,
    status: state.mode,
    run: info.status,
    createdAt: iso(info.createdAt),
    updatedAt: iso(info.updatedAt),
    tasks: state.tasks.toArray().map((task) => taskJson(session, task)),
    messages: await messagesJson(session),
    artifacts: artifactsOf(session).map((artifact) => artifactJson(session, artifact)),
    summary: state.summary,
  }
}

/** The messages of the conversation, without those written while working on a task. */
async function messagesJson({ info, rows }: PlanSession) {
  return itemsOf(await foldInTurns(transcriptView, rows)).flatMap((item) => {
    if (item.kind !== 'message' || item.text === '' || item.superseded === true || item.task !== undefined) return []
    const role = item.role === 'user' ? 'user' : 'assistant'
    return [{ id: item.id, sessionId: info.id, role, content: item.text, author: item.author, createdAt: iso(item.at) }]
  })
}

export function artifactsOf({ plan: state }: PlanSession): readonly PlanArtifact[] {
  return state.artifacts.toArray().filter(({ deleted }) => deleted !== true)
}

export function artifactAt(session: PlanSession, id: string): PlanArtifact {
  const found = artifactsOf(session).find((artifact) => wellFormed(artifact.id) === id)
  if (found === undefined) throw new MillraceError('not-found', `unknown artifact ${id}`)
  return found
}

/** The content. The event that saved it holds the only copy. */
export function artifactContentOf({ rows }: PlanSession, { content }: PlanArtifact): AdkPart | undefined {
  const row = rows.find(({ seq }) => seq === content)
  return row?.event.kind === 'artifact' ? row.event.part : undefined
}
