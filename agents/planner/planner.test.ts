import { fold, planView, type RunEvent, type TaskEdit } from '@millrace/core'
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
    expect(talked.filter((event) => event.kind === 'tasks.changed')).toHaveLength(1)
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

  test.each(['Thanks, looks good!', 'Great, thank you. That is perfect', 'Hello'])(
    '“%s” asks for nothing',
    async (text) => {
      const own = testSession('planner')
      await own.run('Plan a product launch')
      expect((await own.run(text)).filter((event) => event.kind === 'tasks.changed')).toEqual([])
    },
  )

  test('thanks before a request take nothing from it', async () => {
    const own = testSession('planner')
    await own.run('Thanks, plan a product launch')
    expect(fold(planView, own.history).tasks.toArray().length).toBeGreaterThan(1)
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
    expect((await own.run('Hello')).some((event) => event.kind === 'tasks.changed')).toBe(false)
  })

  test.each(['Execute the plan', 'OK, run it now, please.', 'Carry out all tasks'])(
    '“%s” is no task: the answer says what carries out the plan',
    async (message) => {
      const own = testSession('planner')
      await own.run('Plan a product launch')
      const events = await own.run(message)
      expect(events.some((event) => event.kind === 'tasks.changed')).toBe(false)
      expect(said(events).at(-1)).toContain('press Execute')
    },
  )

  /** A person's edit, as the board and the REST routes record it. */
  const edit = (own: ReturnType<typeof testSession>, changes: readonly TaskEdit[]) =>
    own.history.push({
      seq: own.history.length + 1,
      at: Date.now(),
      run: '',
      event: { kind: 'tasks.changed', changes },
    })
  const titles = (own: ReturnType<typeof testSession>) =>
    fold(planView, own.history)
      .tasks.toArray()
      .map(({ title }) => title)

  test('what a person renamed, added and dropped survives the next chat turns', async () => {
    const own = testSession('planner')
    await own.run('Plan a product launch')
    const [first, second, third] = fold(planView, own.history).tasks.toArray()
    edit(own, [
      { task: first!.id, title: 'My own words' },
      { task: 'mine', title: 'My own task', order: 1 },
      { task: second!.id, removed: true },
    ])
    const mine = ['My own words', 'My own task', third!.title]
    for (const message of ['Plan a product launch', 'Thanks', 'What is the plan?']) {
      await own.run(message)
      expect(titles(own)).toEqual(mine)
    }
    const answer = await own.run('Add a task: Research event sourcing')
    expect(titles(own)).toEqual([...mine, 'Research event sourcing'])
    expect(said(answer).at(-1)).toContain('2. My own task')
    await own.run('Also prepare a pricing table.')
    expect(titles(own)).toEqual([...mine, 'Research event sourcing', 'Prepare a pricing table'])
    await own.run('Remove task 5')
    await own.run('Rename task 3 to Write it up')
    await own.run('Remove task 4')
    expect(titles(own)).toEqual(['My own words', 'My own task', 'Write it up'])
    expect(fold(planView, own.history).tasks.at(2)?.id).toBe(third!.id)
  })

  test('what a person changes while the answer is written stays so', async () => {
    const own = testSession('planner')
    await own.run('Plan a product launch')
    const [first, second, third] = fold(planView, own.history).tasks.toArray()
    const meanwhile = (changes: readonly TaskEdit[]) => {
      let edited = false
      return ({ kind }: RunEvent) => {
        if (kind === 'agent' && !edited) edit(own, changes)
        edited ||= kind === 'agent'
        return false
      }
    }
    await own.run('Rename task 1 to Old words', { until: meanwhile([{ task: first!.id, removed: true }]) })
    expect(titles(own)).toEqual([second!.title, third!.title])
    await own.run('Rename task 1 to Old words', { until: meanwhile([{ task: second!.id, title: 'My own words' }]) })
    expect(titles(own)).toEqual(['My own words', third!.title])
    // The number is that of the list which the person saw.
    await own.run('Remove task 2', { until: meanwhile([{ task: 'mine', title: 'My own task', order: 0 }]) })
    expect(titles(own)).toEqual(['My own task', 'My own words'])
  })

  test('a request that names its steps becomes those tasks, and each of them is carried out', async () => {
    const own = testSession('planner')
    await own.run(
      'Research the top 5 CRM competitors, write a competitor analysis document, and save each competitor as a contact',
    )
    expect(titles(own)).toEqual([
      'Research the top 5 CRM competitors',
      'Write a competitor analysis document',
      'Save each competitor as a contact',
    ])
    await own.run(execute)
    const { summary, artifacts, data } = fold(planView, own.history)
    expect(summary).toEqual({ total: 3, completed: 3, failed: 0 })
    expect(artifacts.toArray().map(({ name }) => name)).toEqual(['Competitor analysis document'])
    const contacts = data.toArray().flatMap(({ itemType, item }) => (itemType === 'contact' ? [item] : []))
    expect(contacts).toEqual(expect.arrayContaining([expect.objectContaining({ name: 'HubSpot' })]))
  })

  test.each([
    'Launch my podcast',
    'I want to learn Spanish before summer',
    'How do we move our database to the cloud?',
  ])('any request gets tasks: %s', async (request) => {
    const own = testSession('planner')
    await own.run(request)
    expect(titles(own).length).toBeGreaterThan(1)
  })

  test.each([
    ['Help me move to Berlin', ['Research move to Berlin']],
    ['Yes please plan my wedding', ['Research my wedding']],
    ['Hello, could you plan a trip to Rome?', ['Research a trip to Rome']],
    ['1. buy milk\n2. bake a cake\n3. invite friends', ['Buy milk', 'Bake a cake', 'Invite friends']],
    ['For the party:\n- buy milk\n- bake a cake', ['Buy milk', 'Bake a cake']],
    [`Plan ${'a very long journey '.repeat(60)}`, [expect.stringMatching(/^Research a very long/)]],
    ['Remove the old furniture from my flat', ['Research Remove the old furniture from my flat']],
  ])('a request is read whatever is polite before it, and as the list that it is: %s', async (request, first) => {
    const own = testSession('planner')
    await own.run(request)
    expect(titles(own).slice(0, first.length)).toEqual(first)
  })

  const before = [
    'Survey the CRM market',
    'Compare prices and choice in the CRM market',
    'Write a summary of the CRM market',
  ]
  test.each([
    ['Remove the second task', [before[0], before[2]]],
    ['Could you delete task #2?', [before[0], before[2]]],
    ['drop the last one', [before[0], before[1]]],
    ['Remove tasks 1 and 2', [before[2]]],
    ['Remove “Survey the CRM market”', [before[1], before[2]]],
    ['Also remove the prices task', [before[0], before[2]]],
    ['Clear the plan', []],
    ['Please rename the first task to Survey rivals', ['Survey rivals', before[1], before[2]]],
    ['Add a step: review the budget', [...before, 'Review the budget']],
    ['Also add a task to call Bob', [...before, 'Call Bob']],
    ['Add a budget review', [...before, 'Budget review']],
    ['Move task 3 to the top', before],
    ['Remove task 9', before],
    ['make it shorter', before],
    ['Why?', before],
    ['Looks good, execute it', before],
  ])('words about the plan change what they name, and are no tasks of their own: %s', async (message, after) => {
    const own = testSession('planner')
    await own.run('Plan a competitor analysis of the CRM market')
    expect(titles(own)).toEqual(before)
    await own.run(message)
    expect(titles(own)).toEqual(after)
  })

  test('a stop between the end of a task and its reflection loses no finding', async () => {
    const own = testSession('planner')
    await own.run('Research event sourcing, and write a brief on the CRM market')
    await own.run(execute, { until: (event) => event.kind === 'task.finished' })
    // The graph's checkpoints may not have been written yet: the log has what the task did, and that has to do.
    const begun = own.history.findLastIndex(({ event }) => event.kind === 'run.started')
    const rows = own.history.splice(begun).filter(({ event }) => event.kind !== 'log')
    own.history.push(...rows.map((row, i) => ({ ...row, seq: begun + i + 1 })))
    own.history.push({
      seq: own.history.length + 1,
      at: Date.now(),
      run: own.history.at(-1)!.run,
      event: { kind: 'run.finished', outcome: 'cancelled' },
    })
    const found = fold(planView, own.history)
      .data.toArray()
      .map(({ item }) => (item as { url: string }).url)
    expect(found.length).toBeGreaterThan(0)
    const events = await own.run(execute)
    const written = events.flatMap((event) => (event.kind === 'artifact' ? [event.part?.text ?? ''] : [])).join()
    for (const url of found) expect(written).toContain(url)
  })

  test('a task that is retried has no old result, and saves nothing twice', async () => {
    const own = testSession('planner')
    await own.run('Plan a competitor analysis of the CRM market')
    await own.run(execute)
    const before = fold(planView, own.history)
    edit(own, [{ task: before.tasks.at(0)!.id, status: 'pending' }])
    expect(fold(planView, own.history).tasks.at(0)).not.toHaveProperty('result')
    await own.run(execute)
    const after = fold(planView, own.history)
    expect(after.tasks.at(0)).toMatchObject({ status: 'done', result: expect.any(String) })
    expect(after.data.length).toBe(before.data.length)
  })
})
