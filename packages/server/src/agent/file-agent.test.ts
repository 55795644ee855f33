import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MillraceError, type RunEvent } from '@millrace/core'
import { afterAll, expect, test } from 'vitest'
import type { AgentDescription, RunContext } from './agent.ts'
import { FileAgent, type OpenedAgent } from './file-agent.ts'

// An agent that is loaded somewhere else, such as in a process of its own: here the tests say how that goes.

const folder = mkdtempSync(join(tmpdir(), 'millrace-file-agent-'))
mkdirSync(join(folder, 'a'))
const file = join(folder, 'a', 'agent.ts')
writeFileSync(file, 'export {}')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const described: AgentDescription = {
  name: 'a',
  description: '',
  engine: 'adk',
  graph: { nodes: [], edges: [] },
  examples: [],
  resumable: false,
}
const context = { run: 'r' } as RunContext
const input = { messages: [] }
const event: RunEvent = { kind: 'log', level: 'info', message: 'hello' }

/** The agent of the file; each load takes the next of `opened`. */
function fileAgent(patience: number, ...opened: readonly Partial<OpenedAgent>[]): FileAgent {
  const left = [...opened]
  return new FileAgent('a', file, {
    envFiles: [],
    patience,
    onLoad: () => undefined,
    onThrow: () => undefined,
    open: async () => ({ name: 'a', describe: async () => described, run: said, ...left.shift() }),
  })
}
async function* said(): AsyncGenerator<RunEvent> {
  yield event
}
async function eventsOf(agent: FileAgent): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = []
  for await (const one of agent.run(input, context)) events.push(one)
  return events
}

test('a listing waits while the process that loads the file is busy, and says where the code is', async () => {
  let loaded: () => void = () => undefined
  const loading = new Promise<void>((resolve) => {
    loaded = resolve
  })
  let looks = 0
  // Until the file has been read, this process must not be idle for that long: a busy disk takes a while.
  const agent = fileAgent(1000, {
    // This process is idle all the time, and is looked at every 25 ms; the other one is not.
    progress: () => {
      looks += 1
      if (looks === 60) loaded()
      return { queued: false, idle: 0 }
    },
    describe: () => loading.then(() => described),
    place: () => ({ isolated: true, loaded: true }),
  })
  expect(await agent.describe()).toEqual({ ...described, isolated: true, loaded: true })
})

test('a listing does not wait for a process that has been idle for as long as it waits', async () => {
  const agent = fileAgent(50, {
    progress: () => ({ queued: false, idle: 50 }),
    describe: () => new Promise(() => undefined),
  })
  expect(await agent.describe()).toMatchObject({ engine: 'loading' })
})

test('a run hurries the load, also one that a listing began', async () => {
  let hurried: () => void = () => undefined
  const hurry = new Promise<void>((resolve) => {
    hurried = resolve
  })
  const agent = fileAgent(1000, {
    progress: () => ({ queued: false, idle: 0 }),
    hurry: hurried,
    describe: () => hurry.then(() => described),
  })
  const listed = agent.describe()
  expect(await eventsOf(agent)).toEqual([event])
  expect(await listed).toMatchObject({ engine: 'adk' })
})

test('a process that ended while it loaded is started again by the next run, and not by a listing', async () => {
  const faulty = { describe: () => Promise.reject(new MillraceError('unavailable', 'it ended')) }
  const agent = fileAgent(1000, faulty)
  expect(await agent.describe()).toMatchObject({ engine: 'broken', error: 'a/agent.ts: it ended' })
  expect(await agent.describe()).toMatchObject({ engine: 'broken' })
  expect(await eventsOf(agent)).toEqual([event])
  expect(await agent.describe()).toEqual(described)
})

test('an agent whose folder is gone is closed when its last run has ended', async () => {
  let closed = 0
  const agent = fileAgent(1000, {
    close: async () => {
      closed += 1
    },
  })
  const run = agent.run(input, context)[Symbol.asyncIterator]()
  expect(await run.next()).toEqual({ done: false, value: event })
  agent.retire()
  expect(closed).toBe(0)
  await run.next()
  expect(closed).toBe(1)
})

test('closing ends a load that is under way', async () => {
  let fail: (error: Error) => void = () => undefined
  let asked: () => void = () => undefined
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve
  })
  const agent = fileAgent(1000, {
    describe: () =>
      new Promise((_, reject) => {
        fail = reject
        asked()
      }),
    close: async () => fail(new MillraceError('unavailable', 'closed')),
    progress: () => ({ queued: false, idle: 0 }),
  })
  const listed = agent.describe()
  await isAsked
  await agent.close()
  expect(await listed).toMatchObject({ engine: 'broken' })
})
