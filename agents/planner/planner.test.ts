import { fold, planView, type RunEvent } from '@millrace/core'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { said, testSession } from '../../test/kit/agent-session.ts'

const execute = { messages: [], props: { mode: 'execute' } }

describe('planner, offline', () => {
  const session = testSession('planner')
  const planned = () => fold(planView, session.history)
  let talked: readonly RunEvent[]
  beforeAll(async () => {
    talked = await session.run('Plan a competitor analysis of the CRM market')
  })

  test('the chat is streamed, the extraction is not', () => {
    const partials = talked.flatMap((event) =>
      event.kind === 'agent' && event.event.partial ? [event.event.author] : [],
    )
    expect(new Set(partials)).toEqual(new Set(['chat']))
    expect(said(talked).join()).toContain('Here is a plan')
    expect(talked.filter((event) => event.kind === 'tasks')).toHaveLength(1)
    expect(planned().tasks.toArray()).toMatchObject([
      { status: 'pending' },
      { status: 'pending' },
      { status: 'pending' },
    ])
  })

  test('an execution works the tasks off with real tools', async () => {
    const events = await session.run(execute)
    const kinds = events.map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === 'task.started')).toHaveLength(3)
    expect(kinds.filter((kind) => kind === 'task.reflected')).toHaveLength(3)
    const { summary, artifacts, data, mode } = planned()
    expect({ summary, mode }).toEqual({ summary: { total: 3, completed: 3, failed: 0 }, mode: 'completed' })
    expect(artifacts.toArray().map(({ name, type }) => [name, type])).toEqual([['CRM market', 'summary']])
    // What the first two tasks kept is what the third one wrote from.
    const kept = data.toArray().map(({ item }) => item as { title: string; url: string })
    expect(kept.map(({ title }) => title)).toEqual(expect.arrayContaining(['The CRM market', 'How CRM vendors price']))
    expect(new Set(kept.map(({ url }) => url)).size).toBe(kept.length)
    const written = events.flatMap((event) => (event.kind === 'artifact' ? [event.part?.text ?? ''] : [])).join()
    for (const { title, url } of kept) expect(written).toContain(`[${title}](${url})`)
    const calls = events.flatMap((event) =>
      event.kind === 'agent' ? (event.event.content?.parts ?? []).flatMap((part) => part.functionCall ?? []) : [],
    )
    const answers = events.flatMap((event) =>
      event.kind === 'agent' ? (event.event.content?.parts ?? []).flatMap((part) => part.functionResponse ?? []) : [],
    )
    expect(calls.map(({ name }) => name)).toContain('web_search')
    expect(answers.map(({ id }) => id).toSorted()).toEqual(calls.map(({ id }) => id).toSorted())
    expect(
      events
        .filter((event) => event.kind === 'agent' && event.event.content !== undefined)
        .every((event) => event.kind === 'agent' && event.task !== undefined),
    ).toBe(true)
  })

  test('an edited task is the one that is executed; a finished one is left alone', async () => {
    const own = testSession('planner')
    await own.run('Plan a product launch')
    const [first, second] = fold(planView, own.history).tasks.toArray()
    own.history.push({
      seq: own.history.length + 1,
      at: Date.now(),
      run: '',
      event: {
        kind: 'tasks',
        tasks: [
          { id: first!.id, title: 'Research xyzzyq', status: 'pending', order: 0 },
          { id: second!.id, title: 'Kept', status: 'done', order: 1 },
        ],
      },
    })
    const events = await own.run(execute)
    expect(events.filter((event) => event.kind === 'task.started')).toHaveLength(1)
    expect(JSON.stringify(events)).toContain('I found nothing about xyzzyq')
  })

  test('a task that fails is reported with the reason, and the other tasks continue', async () => {
    const own = testSession('planner')
    await own.run('Plan a product launch')
    await own.run('Add a task: Simulate a failure')
    await own.run('Add a task: Research event sourcing')
    const events = await own.run(execute)
    const { summary, tasks } = fold(planView, own.history)
    expect(summary).toEqual({ total: 5, completed: 4, failed: 1 })
    expect(tasks.toArray().map(({ status }) => status)).toEqual(['done', 'done', 'done', 'failed', 'done'])
    expect(events.find((event) => event.kind === 'task.finished' && event.status === 'failed')).toMatchObject({
      result: 'the model is overloaded (simulated)',
    })
    expect(JSON.stringify(events)).toContain('so the plan goes on')
  })

  test('a search engine that is down fails its tasks, and says so', async () => {
    vi.stubEnv('SEARXNG_URL', 'http://127.0.0.1:9/')
    try {
      const own = testSession('planner')
      await own.run('Plan a product launch')
      await own.run(execute)
      expect(fold(planView, own.history).summary).toEqual({ total: 3, completed: 0, failed: 3 })
    } finally {
      vi.unstubAllEnvs()
    }
  })

  test('a changed plan keeps what is done', async () => {
    const own = testSession('planner')
    await own.run('Plan a product launch')
    await own.run(execute)
    await own.run('Add a task: Research event sourcing')
    expect(
      fold(planView, own.history)
        .tasks.toArray()
        .map(({ status }) => status),
    ).toEqual(['done', 'done', 'done', 'pending'])
    const events = await own.run(execute)
    expect(events.filter((event) => event.kind === 'task.started')).toHaveLength(1)
    await own.run('Remove task 1')
    expect(fold(planView, own.history).tasks.toArray()).toHaveLength(3)
  })

  test('after a crash an execution continues with the task it was at; finished tasks are not repeated', async () => {
    const own = testSession('planner')
    await own.run('Plan a product launch')
    const titles = fold(planView, own.history)
      .tasks.toArray()
      .map(({ title }) => title)
    const before = await own.run(execute, {
      // The process dies in the middle of the second task.
      until: (event, seen) => event.kind === 'agent' && seen.filter(({ kind }) => kind === 'task.started').length === 2,
    })
    const after = await own.run(execute, { resumed: true })
    const started = (events: readonly RunEvent[]) =>
      events.flatMap((event) =>
        event.kind === 'task.started'
          ? [
              fold(planView, own.history)
                .tasks.toArray()
                .find(({ id }) => id === event.task)?.title,
            ]
          : [],
      )
    expect(started(before)).toEqual(titles.slice(0, 2))
    // The one that was cut short is begun again or gone on with; the one before it is neither.
    expect(titles.slice(1)).toEqual(expect.arrayContaining([...started(after)]))
    expect(started(after)).toContain(titles[2])
    expect(fold(planView, own.history).summary).toEqual({ total: 3, completed: 3, failed: 0 })
  })

  test('small talk leaves the plan as it is', async () => {
    const own = testSession('planner')
    expect((await own.run('Hello')).some((event) => event.kind === 'tasks')).toBe(false)
  })
})
