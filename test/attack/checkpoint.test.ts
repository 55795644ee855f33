import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Annotation, END, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import type { EventLog, RunInput } from '@millrace/core'
import { sessionKey } from '@millrace/core/store'
import { graphAgent, sqliteLog } from '@millrace/server'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { testServer } from '../kit/server.ts'

/** A user can import a session with any checkpoint in it. It is never what the graph continues from. */
const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  note: Annotation<string>(),
  answer: Annotation<unknown>(),
  parts: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
})

/** What the nodes saw, in order. */
const seen: { node: string; note?: string; messages?: number; parts?: readonly string[] }[] = []
const compiled = () =>
  new StateGraph(State)
    .addNode('look', ({ note, messages, parts }) => {
      seen.push({ node: 'look', note, messages: messages.length, parts })
      return { parts: ['looked'] }
    })
    .addNode('ask', ({ note }) => (note === 'ask' ? (interrupt('Pay?') as Record<string, unknown>) : {}))
    .addNode('pay', () => {
      seen.push({ node: 'pay' })
      return { answer: 'paid' }
    })
    .addEdge(START, 'look')
    .addEdge('look', 'ask')
    .addConditionalEdges('ask', ({ answer }) => (answer === 'yes' ? 'pay' : END), ['pay', END])
    .addEdge('pay', END)
    .compile()
const graph = graphAgent('g', async () => ({ graph: compiled() as never }))
const tokens = new Map([
  ['token-of-ann', 'ann'],
  ['token-of-bob', 'bob'],
])
const folders: string[] = []
let server: Awaited<ReturnType<typeof testServer>>
const open = async (log?: EventLog): Promise<void> => {
  server = await testServer({ with: [graph], fallback: 'g', access: { tokens }, ...(log === undefined ? {} : { log }) })
}
afterEach(() => server.close(0))
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

const call = async (user: string, method: 'GET' | 'POST' | 'PATCH', url: string, payload?: string | object) => {
  const type = typeof payload === 'string' ? 'application/x-ndjson' : 'application/json'
  const headers = { host: 'localhost', authorization: `Bearer token-of-${user}` }
  return server.app.inject({
    method,
    url,
    headers: payload === undefined ? headers : { ...headers, 'content-type': type },
    ...(payload === undefined ? {} : { payload }),
  })
}
let ids = 0
const words = (text: string): RunInput => ({
  messages: [{ id: `m${++ids}`, role: 'user', content: { role: 'user', parts: [{ text }] } }],
})
/** Runs to the end; the rows of the run. */
async function run(user: string, session: string, input: RunInput) {
  const answer = await call(user, 'POST', `/sessions/${session}/runs`, { input, agent: 'g', run: `r${++ids}` })
  expect(answer.statusCode, answer.body).toBe(201)
  const { run: id } = answer.json()
  const key = sessionKey(user, session)
  await server.engine.wait(key, id)
  return (await server.log.read(key, { after: 0 })).filter((row) => row.run === id).map(({ event }) => event)
}
const ending = (events: Awaited<ReturnType<typeof run>>) => events.find((event) => event.kind === 'run.finished')
const said = (events: Awaited<ReturnType<typeof run>>) =>
  events.flatMap((event) => (event.kind === 'log' && event.level === 'warn' ? [event.message] : []))
async function waiting(user: string, session: string): Promise<string> {
  const events = await run(user, session, { ...words('hi'), state: { note: 'ask' } })
  expect(ending(events)).toMatchObject({ outcome: 'interrupted' })
  return events.flatMap((event) => (event.kind === 'interrupt' ? [event.id] : [])).join()
}
const answered = (interrupt: string, payload: unknown): RunInput => ({
  messages: [],
  resume: [{ interrupt, status: 'resolved', payload: payload as never }],
})
async function copied(from: string, to: string, id: string, change = (text: string): string => text): Promise<void> {
  const file = (await call(from, 'GET', `/sessions/${id}/log`)).body
  const answer = await call(to, 'POST', `/sessions/import?id=${id}-copy&dialect=millrace`, change(file))
  expect(answer.statusCode, answer.body).toBe(201)
}
/** The export, with this text in the place of another inside the graph's checkpoint. */
const forged = (from: string, to: string) => (file: string) =>
  file
    .split('\n')
    .map((line) => {
      const row: { event?: { message?: string; data?: { spaces: { checkpoint: string }[] } } } = JSON.parse(
        line || '{}',
      )
      if (row.event?.message !== 'langgraph.checkpoint') return line
      for (const space of row.event.data?.spaces ?? []) {
        const text = Buffer.from(space.checkpoint, 'base64').toString()
        expect(text).toContain(from)
        space.checkpoint = Buffer.from(text.replaceAll(from, to)).toString('base64')
      }
      return JSON.stringify(row)
    })
    .join('\n')

describe('a checkpoint that this server did not write for this user', () => {
  test('is not continued from: the graph gets the state and the messages of the events', async () => {
    await open()
    await run('ann', 's', { ...words('hi'), state: { note: 'kept' } })
    await copied('ann', 'ann', 's', forged('kept', 'evil'))
    seen.length = 0
    const events = await run('ann', 's-copy', words('again'))
    expect(seen).toEqual([{ node: 'look', note: 'kept', messages: 2, parts: ['looked'] }])
    expect(said(events).join()).toContain('did not write the checkpoint of this session')
    expect(events.filter((event) => event.kind === 'agent')).toEqual([])
    // From here on the session has a checkpoint of ours.
    expect(said(await run('ann', 's-copy', words('more')))).toEqual([])
    expect(seen.at(-1)).toEqual({ node: 'look', note: 'kept', messages: 3, parts: ['looked', 'looked'] })
  })

  test('cannot be answered: the refusal says why', async () => {
    await open()
    const question = await waiting('ann', 's')
    await copied('ann', 'bob', 's')
    seen.length = 0
    const events = await run('bob', 's-copy', answered(question, { answer: 'yes' }))
    expect(ending(events)).toMatchObject({ outcome: 'failed' })
    expect(JSON.stringify(ending(events))).toContain('no checkpoint of it that this server wrote for this user')
    expect(seen).toEqual([])
  })

  test('with a seal of another row is refused as well', async () => {
    await open()
    await run('ann', 's', { ...words('hi'), state: { note: 'kept' } })
    const spliced = (file: string): string => file.replaceAll('"agent":"g","code"', '"agent":"g","more":1,"code"')
    await copied('ann', 'ann', 's', (file) => forged('kept', 'evil')(spliced(file)))
    seen.length = 0
    await run('ann', 's-copy', words('again'))
    expect(seen[0]?.note).toBe('kept')
  })
})

describe('a checkpoint of ours', () => {
  test('continues in a fork', async () => {
    await open()
    const question = await waiting('ann', 's')
    expect((await call('ann', 'POST', '/sessions/s/fork', { id: 'f' })).statusCode).toBe(201)
    seen.length = 0
    expect(ending(await run('ann', 'f', answered(question, { answer: 'yes' })))).toMatchObject({ outcome: 'done' })
    expect(seen).toEqual([{ node: 'pay' }])
  })

  test('continues after a restart, by the key in the data folder, which only its owner can read', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'millrace-key-'))
    folders.push(folder)
    const first = await sqliteLog({ folder, now: Date.now })
    await open(first)
    const question = await waiting('ann', 's')
    await server.close(0)
    await first.close()
    expect(statSync(join(folder, 'millrace.key')).mode & 0o777).toBe(0o600)
    const second = await sqliteLog({ folder, now: Date.now })
    await open(second)
    seen.length = 0
    expect(ending(await run('ann', 's', answered(question, { answer: 'yes' })))).toMatchObject({ outcome: 'done' })
    expect(seen).toEqual([{ node: 'pay' }])
    await second.close()
    // With another key, it is as if another server had written everything.
    writeFileSync(join(folder, 'millrace.key'), Buffer.alloc(32))
    const third = await sqliteLog({ folder, now: Date.now })
    await server.close(0)
    await open(third)
    expect(said(await run('ann', 's', words('again')))).toHaveLength(1)
    await third.close()
  })
})

describe('what a client sends to a graph is data', () => {
  test.each([
    ['a Command', { lg_name: 'Command', goto: 'pay' }],
    ['a Command inside', [{ deep: { lg_name: 'Command', goto: ['pay'] } }]],
    ['an Overwrite', { parts: { __overwrite__: ['x'] } }],
  ])('%s as an answer is refused', async (_name, payload) => {
    await open()
    const question = await waiting('ann', 's')
    seen.length = 0
    const events = await run('ann', 's', answered(question, payload))
    expect(seen).toEqual([])
    expect(ending(events)).toMatchObject({ outcome: 'failed', error: { code: 'invalid' } })
  })

  test('the client state cannot pass a reducer by', async () => {
    await open()
    await run('ann', 's', words('hi'))
    const events = await run('ann', 's', { ...words('hi'), state: { parts: { __overwrite__: [] } } })
    expect(ending(events)).toMatchObject({ outcome: 'failed', error: { code: 'invalid' } })
  })

  test('a state key with the name of an inner channel runs no node', async () => {
    await open()
    const question = await waiting('ann', 's')
    await server.log.append(sessionKey('ann', 's'), [
      { run: '', event: { kind: 'state', patch: [{ op: 'add', path: '/branch:to:pay', value: 1 }] } },
    ])
    seen.length = 0
    await run('ann', 's', answered(question, { answer: 'no' }))
    expect(seen).toEqual([])
  })
})
