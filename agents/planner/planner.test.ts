import { fold, plan, type RunEvent } from '@millrace/core'
import { beforeAll, describe, expect, test } from 'vitest'
import { said, testSession } from '../../test/agent-session.ts'

const execute = { messages: [], props: { mode: 'execute' } }

describe('planner, offline', () => {
  const session = testSession('planner')
  const planned = () => fold(plan, session.history)
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
    expect(artifacts.toArray().map(({ name }) => name)).toContain(
      'Write a summary of competitor analysis of the CRM market',
    )
    expect(JSON.stringify(data.toArray())).toContain('Salesforce')
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
        .filter((event) => event.kind === 'agent')
        .every((event) => event.kind === 'agent' && event.task !== undefined),
    ).toBe(true)
  })

  test('an edited task is the one that is executed; a finished one is left alone', async () => {
    const own = testSession('planner')
    await own.run('Plan a product launch')
    const [first, second] = fold(plan, own.history).tasks.toArray()
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

  test('small talk leaves the plan as it is', async () => {
    const own = testSession('planner')
    expect((await own.run('Hello')).some((event) => event.kind === 'tasks')).toBe(false)
  })
})
