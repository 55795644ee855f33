import { defined, MillraceError, type Task, type TaskEdit, wellFormed } from '@millrace/core'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { SessionTurns } from '../../run/session-turns.ts'
import type { HttpDeps } from '../deps.ts'
import { bodyRefusal, validateBody } from '../doors/validate-body.ts'
import { listShape, shapeOf } from '../openapi/answers.ts'
import { documented } from '../surface.ts'
import { planSession, taskJson } from './plan-json.ts'

const title = z.string().trim().min(1).max(500)
const description = z.string().max(2000)
const addBody = z.object({ title, description: description.optional(), order: z.number().int().min(0).optional() })
const editBody = z
  .object({ title, description, status: z.enum(['pending', 'done', 'failed']), order: z.number().int().min(0) })
  .partial()
const orderBody = z.object({ taskIds: z.array(z.string()).max(1000) })

/**
 * Tasks edited by a person, outside any run. Only what changes is recorded: an edit repeats no list, and undoes nothing
 * that a run records at the same moment.
 */
export const taskRoutes =
  (deps: HttpDeps): FastifyPluginAsync =>
  async (app) => {
    type ById = { Params: { id: string } }
    type ByTask = { Params: { id: string; task: string } }
    const turns = new SessionTurns()

    /** One edit of a session at a time: each starts from the list that the one before it left. */
    const change = (request: FastifyRequest, id: string, edit: (tasks: readonly Task[]) => readonly TaskEdit[]) =>
      turns.take(deps.own(request).keyOf(id), async () => {
        const session = await planSession(deps, request, id)
        const changes = edit(session.plan.tasks.toArray())
        if (changes.length === 0) return session
        await deps.own(request).log.append(session.info.id, [{ run: '', event: { kind: 'tasks.changed', changes } }])
        return planSession(deps, request, id)
      })
    const tasksOf = (session: Awaited<ReturnType<typeof planSession>>) =>
      session.plan.tasks.toArray().map((task) => taskJson(session, task))

    app.get<ById>(
      '/sessions/:id/tasks',
      documented({
        effect: 'read',
        whole: true,
        summary: 'The tasks, in order',
        answer: 'Tasks',
        result: listShape('Task'),
      }),
      async (request) => tasksOf(await planSession(deps, request, request.params.id)),
    )
    app.get<ByTask>(
      '/sessions/:id/tasks/:task',
      documented({ effect: 'read', whole: true, summary: 'A task', answer: 'The task', result: shapeOf('Task') }),
      async (request) => {
        const session = await planSession(deps, request, request.params.id)
        return found(tasksOf(session), request.params.task)
      },
    )
    app.post<ById>(
      '/sessions/:id/tasks',
      documented({
        effect: 'write',
        summary: 'Add a task',
        body: addBody,
        answer: 'The task',
        result: shapeOf('Task'),
        status: 201,
      }),
      async (request, reply) => {
        const body = validateBody(addBody, request.body)
        const id = deps.newId()
        const createdAt = new Date(deps.now()).toISOString()
        const added: TaskEdit = { task: id, ...defined(body), status: 'pending', createdAt }
        const session = await change(request, request.params.id, () => [added])
        return reply.code(201).send(found(tasksOf(session), id))
      },
    )
    app.patch<ByTask>(
      '/sessions/:id/tasks/:task',
      documented({
        effect: 'write',
        summary: 'Edit or move a task',
        body: editBody,
        answer: 'The task',
        result: shapeOf('Task'),
      }),
      async (request) => {
        const edit = validateBody(editBody, request.body)
        const { task } = request.params
        const session = await change(request, request.params.id, (tasks) => {
          found(tasks, task)
          return [{ task, ...defined(edit) }]
        })
        return found(tasksOf(session), task)
      },
    )
    app.delete<ByTask>(
      '/sessions/:id/tasks/:task',
      documented({ effect: 'write', summary: 'Delete a task', answer: 'Nothing', status: 204 }),
      async (request, reply) => {
        const { task } = request.params
        await change(request, request.params.id, (tasks) => {
          found(tasks, task)
          return [{ task, removed: true }]
        })
        return reply.code(204).send()
      },
    )
    app.post<ByTask>(
      '/sessions/:id/tasks/:task/retry',
      documented({
        effect: 'write',
        summary: 'Make a finished task pending again',
        answer: 'The task',
        result: shapeOf('Task'),
      }),
      async (request) => {
        const { task } = request.params
        const session = await change(request, request.params.id, (tasks) => {
          found(tasks, task)
          return [{ task, status: 'pending' }]
        })
        return found(tasksOf(session), task)
      },
    )
    app.put<ById>(
      '/sessions/:id/tasks',
      documented({
        effect: 'write',
        summary: 'Put the tasks in this order',
        body: orderBody,
        answer: 'Tasks',
        result: listShape('Task'),
      }),
      async (request) => {
        const { taskIds } = validateBody(orderBody, request.body)
        const session = await change(request, request.params.id, (tasks) => {
          if (new Set(taskIds).size !== tasks.length || !tasks.every(({ id }) => taskIds.includes(id))) {
            throw bodyRefusal([{ path: 'taskIds', message: 'must name every task once' }])
          }
          return movesTo(
            taskIds,
            tasks.map(({ id }) => id),
          )
        })
        return tasksOf(session)
      },
    )
  }

function found<T extends { readonly id: string }>(tasks: readonly T[], id: string): T {
  const task = tasks.find((each) => wellFormed(each.id) === id)
  if (task === undefined) throw new MillraceError('not-found', `unknown task ${id}`)
  return task
}

/** The moves that bring a list into an order. Tasks that are in their place already are not moved. */
function movesTo(wanted: readonly string[], before: readonly string[]): readonly TaskEdit[] {
  const list = [...before]
  return wanted.flatMap((task, order) => {
    if (list[order] === task) return []
    list.splice(list.indexOf(task), 1)
    list.splice(order, 0, task)
    return [{ task, order }]
  })
}
