import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fold, type JsonObject, parseRecorded, problemsView, type Recorded } from '@millrace/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exampleAgents } from '../kit/built-packages.ts'
import { built, type Served, serveBuilt } from '../kit/built-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-planner-'))
let server: Served
const serve = () =>
  serveBuilt(['serve', '--port', '0', '--data-dir', folder, '--agents', exampleAgents], {
    MILLRACE_OFFLINE_TOKENS_PER_SECOND: '200',
  })
beforeAll(async () => {
  await built()
  server = await serve()
})
afterAll(async () => {
  await server.kill()
  rmSync(folder, { recursive: true })
})

interface Task {
  readonly id: string
  readonly title: string
  readonly status: string
  readonly result?: string
}

function call(method: string, path: string, body?: JsonObject): Promise<Response> {
  const sent = body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  return fetch(server.address + path, { method, ...sent })
}
const json = async <T>(method: string, path: string, body?: JsonObject): Promise<T> =>
  (await (await call(method, path, body)).json()) as T

/** The frames of a plan stream, until one that `enough` accepts; then the client leaves. */
async function frames(response: Response, enough: (frame: JsonObject) => boolean = () => false): Promise<JsonObject[]> {
  const list: JsonObject[] = []
  let rest = ''
  const decoder = new TextDecoder()
  for await (const bytes of response.body ?? []) {
    const blocks = (rest + decoder.decode(bytes, { stream: true })).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const [, data] = /^data: (.*)$/m.exec(block) ?? []
      if (data === undefined) continue
      const frame = JSON.parse(data) as JsonObject
      list.push(frame)
      if (enough(frame)) return list
    }
  }
  return list
}

test('nothing that a person did to the plan is undone: chat, edit, chat, execute, leave, crash, come back, retry', async () => {
  const { id } = await json<{ id: string }>('POST', '/sessions', { agent: 'planner' })
  const at = `/sessions/${id}`
  const tasks = () => json<Task[]>('GET', `${at}/tasks`)
  const titles = async () => (await tasks()).map(({ title }) => title)

  const asked =
    'Research the top 5 CRM competitors, write a competitor analysis document, and save each competitor as a contact'
  const planned = await frames(await call('POST', `${at}/chat`, { message: asked }))
  expect(planned.filter(({ type }) => type === 'tasks_updated')).toHaveLength(1)
  const [research, write, save] = await tasks()
  expect(research?.title).toBe('Research the top 5 CRM competitors')

  await call('PATCH', `${at}/tasks/${write?.id}`, { title: 'Write a report on CRM' })
  await call('POST', `${at}/tasks`, { title: 'Simulate a failure', order: 1 })
  await call('DELETE', `${at}/tasks/${save?.id}`)
  const edited = ['Research the top 5 CRM competitors', 'Simulate a failure', 'Write a report on CRM']
  expect(await titles()).toEqual(edited)

  await frames(await call('POST', `${at}/chat`, { message: asked }))
  expect(await titles()).toEqual(edited)
  await frames(await call('POST', `${at}/chat`, { message: 'Add a task: Research event sourcing' }))
  const whole = [...edited, 'Research event sourcing']
  expect(await titles()).toEqual(whole)

  // The person leaves in the middle of the first task, renames the last one, and the server dies.
  await frames(await call('POST', `${at}/execute`), ({ type }) => type === 'tool_call')
  const last = (await tasks()).at(-1)?.id
  await call('PATCH', `${at}/tasks/${last}`, { title: 'Research event logs' })
  await server.kill()
  server = await serve()
  const now = [...edited, 'Research event logs']
  expect(await titles()).toEqual(now)

  // The execution goes on by itself; the person comes back and reads it to its end.
  const runs = rowsOf(await (await call('GET', `${at}/log`)).text())
  const run = runs.findLast(({ event }) => event.kind === 'run.started')?.run
  const rest = await frames(await call('GET', `${at}/events?dialect=plan&run=${run}`), ({ type }) => type === 'done')
  expect(rest.at(-1)).toMatchObject({ type: 'done', summary: { total: 4, completed: 3, failed: 1 } })
  const failed = (await tasks()).find(({ title }) => title === 'Simulate a failure')
  expect(rest).toContainEqual({ type: 'error', taskId: failed?.id, error: 'the model is overloaded (simulated)' })
  expect(await titles()).toEqual(now)

  // A retry has no old result, and leaves the others alone.
  expect(failed).toMatchObject({ status: 'failed', result: 'the model is overloaded (simulated)' })
  const again = await json<Task>('POST', `${at}/tasks/${failed?.id}/retry`)
  expect(again).toMatchObject({ status: 'pending' })
  expect(again).not.toHaveProperty('result')
  await call('PATCH', `${at}/tasks/${failed?.id}`, { title: 'Research remote teams' })
  const retried = await frames(await call('POST', `${at}/execute`))
  expect(retried.filter(({ type }) => type === 'task_selected')).toEqual([
    { type: 'task_selected', taskId: failed?.id },
  ])
  expect(retried.at(-1)).toEqual({ type: 'done', summary: { total: 4, completed: 4, failed: 0 } })
  expect(await titles()).toEqual([now[0], 'Research remote teams', now[2], now[3]])

  // With nothing left to do, an execution says so with its summary.
  const idle = await frames(await call('POST', `${at}/execute`))
  expect(idle).toEqual([{ type: 'done', summary: { total: 4, completed: 4, failed: 0 } }])
  const log = rowsOf(await (await call('GET', `${at}/log`)).text())
  expect(
    fold(problemsView, log)
      .problems.toArray()
      .filter(({ code }) => code === 'task-unknown'),
  ).toEqual([])
})

test('a task that a person drops during an execution is not carried out, and one that is renamed goes by its new name', async () => {
  const { id } = await json<{ id: string }>('POST', '/sessions', { agent: 'planner' })
  const at = `/sessions/${id}`
  await frames(
    await call('POST', `${at}/chat`, { message: 'Research event sourcing, write a brief, save each source' }),
  )
  await call('POST', `${at}/tasks`, { title: 'Research remote teams' })
  const [, , dropped, renamed] = await json<Task[]>('GET', `${at}/tasks`)
  await frames(await call('POST', `${at}/execute`), ({ type }) => type === 'tool_call')
  await call('DELETE', `${at}/tasks/${dropped?.id}`)
  await call('PATCH', `${at}/tasks/${renamed?.id}`, { title: 'Simulate a failure' })
  const rows = rowsOf(await (await call('GET', `${at}/log`)).text())
  const run = rows.findLast(({ event }) => event.kind === 'run.started')?.run
  const stream = await frames(await call('GET', `${at}/events?dialect=plan&run=${run}`), ({ type }) => type === 'done')
  const selected = stream.flatMap(({ type, taskId }) => (type === 'task_selected' ? [taskId] : []))
  expect(selected).toHaveLength(3)
  expect(selected).not.toContain(dropped?.id)
  expect(stream.at(-1)).toMatchObject({ type: 'done', summary: { total: 3, completed: 2, failed: 1 } })
})

/** The rows of an exported log; its first line describes the session. */
function rowsOf(text: string): readonly Recorded[] {
  return text.split('\n').flatMap((line) => {
    const read = parseRecorded(line)
    return 'recorded' in read ? [read.recorded] : []
  })
}
