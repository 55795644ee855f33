import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fold, planView, problemsView, type Recorded, timelineView } from '@millrace/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { built, oneProcess, type Served, serveBuilt } from '../kit/built-server.ts'
import { loadedAgents } from '../kit/loaded-agents.ts'

// Graphs as LangGraph's documentation writes them, on the built server, killed in the middle.

/** A question inside an inner graph, with the saver that the documentation shows. */
const asking = `
import { AIMessage } from '@langchain/core/messages'
import { Annotation, END, interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
const State = Annotation.Root({ ...MessagesAnnotation.spec, answer: Annotation(), count: Annotation({ reducer: (a, b) => a + b, default: () => 0 }) })
const inner = new StateGraph(State)
  .addNode('draft', () => ({ messages: [new AIMessage('a draft')], count: 1 }))
  .addNode('review', () => ({ answer: interrupt({ question: 'Send it?' }) }))
  .addEdge(START, 'draft').addEdge('draft', 'review').addEdge('review', END)
  .compile()
export const graph = new StateGraph(State)
  .addNode('writer', inner)
  .addNode('send', ({ answer }) => ({ messages: [new AIMessage('sent: ' + answer)] }))
  .addEdge(START, 'writer').addEdge('writer', 'send').addEdge('send', END)
  .compile({ checkpointer: new MemorySaver() })
`

/** Its second step records data, speaks and then hangs, until the file \`go\` exists. */
const working = (go: string): string => `
import { existsSync } from 'node:fs'
import { AIMessage } from '@langchain/core/messages'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { Annotation, END, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { record } from '@millrace/server/langgraph'
const State = Annotation.Root({ ...MessagesAnnotation.spec })
const model = new FakeListChatModel({ responses: ['I save a contact.'] })
export const resumable = true
export const graph = new StateGraph(State)
  .addNode('first', () => ({ messages: [new AIMessage('first')] }))
  .addNode('save', async ({ messages }, config) => {
    await model.invoke(messages, config)
    await record({ kind: 'data', id: crypto.randomUUID(), operation: 'create', itemType: 'contact', item: { name: 'Ann' } }, config)
    if (!existsSync(${JSON.stringify(go)})) await new Promise((resolve) => setTimeout(resolve, 600_000))
    return { messages: [new AIMessage('saved')] }
  })
  .addEdge(START, 'first').addEdge('first', 'save').addEdge('save', END)
  .compile({ checkpointer: new MemorySaver() })
`

const folder = mkdtempSync(join(tmpdir(), 'millrace-graphs-'))
const go = join(folder, 'go')
let served: Served | undefined

async function serve(): Promise<string> {
  await served?.kill()
  const args = ['serve', '--port', '0', '--data-dir', join(folder, 'data'), '--agents', join(folder, 'agents')]
  served = await serveBuilt([...args, ...oneProcess])
  return served.address
}

beforeAll(async () => {
  await built()
  for (const [name, text] of [
    ['asking', asking],
    ['working', working(go)],
  ] as const) {
    mkdirSync(join(folder, 'agents', name), { recursive: true })
    writeFileSync(join(folder, 'agents', name, 'agent.ts'), text)
  }
})
afterAll(async () => {
  await served?.kill()
  rmSync(folder, { recursive: true })
})

async function start(address: string, session: string, agent: string, input: object): Promise<void> {
  const answer = await fetch(`${address}/sessions/${session}/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ agent, input }),
  })
  expect(answer.status, await answer.clone().text()).toBe(201)
}

/** Follows the session until the text occurs in its stream. */
async function follow(address: string, session: string, text: string): Promise<void> {
  const leave = new AbortController()
  const answer = await fetch(`${address}/sessions/${session}/events?dialect=millrace`, { signal: leave.signal })
  let seen = ''
  try {
    for await (const chunk of answer.body ?? []) {
      seen += Buffer.from(chunk).toString()
      if (seen.includes(text)) return
    }
  } finally {
    leave.abort()
  }
  throw new Error(`the stream ended without ${text}: ${seen.slice(-500)}`)
}

async function rowsOf(address: string, session: string): Promise<readonly Recorded[]> {
  const text = await (await fetch(`${address}/sessions/${session}/log`)).text()
  return text
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line) as Recorded)
}

const hi = { messages: [{ id: 'm1', role: 'user', content: { role: 'user', parts: [{ text: 'hi' }] } }] }
const said = (rows: readonly Recorded[]) =>
  rows.flatMap(({ event }) =>
    event.kind === 'agent' && event.event.partial !== true
      ? (event.event.content?.parts ?? []).map(({ text }) => `${event.event.author}: ${text}`)
      : [],
  )
const wrong = (rows: readonly Recorded[]) =>
  fold(problemsView, rows)
    .problems.toArray()
    .filter(({ severity }) => severity !== 'info')

test('MemorySaver, a question in an inner graph, SIGKILL: the answer resumes at the question', async () => {
  const before = await serve()
  expect(JSON.stringify(await loadedAgents(before))).toContain('"checkpoints":"log"')
  await start(before, 's1', 'asking', hi)
  await follow(before, 's1', '"outcome":"interrupted"')
  const address = await serve()
  const asked = (await rowsOf(address, 's1')).find(({ event }) => event.kind === 'interrupt')?.event
  if (asked?.kind !== 'interrupt') throw new Error('the graph must ask')
  expect(asked).toMatchObject({ node: 'writer/review@1', message: 'Send it?' })
  await start(address, 's1', 'asking', {
    messages: [],
    resume: [{ interrupt: asked.id, status: 'resolved', payload: 'yes' }],
  })
  await follow(address, 's1', '"outcome":"done"')
  const rows = await rowsOf(address, 's1')
  expect(said(rows)).toEqual(['draft: a draft', 'send: sent: yes'])
  const state = (await (await fetch(`${address}/sessions/s1/state`)).json()) as { state: Record<string, unknown> }
  expect(state).toMatchObject({ state: { answer: 'yes', count: 1 } })
  const nodes = rows.flatMap(({ event }) => (event.kind === 'node.started' ? [event.node] : []))
  expect(nodes).toEqual(['writer@1', 'writer/draft@1', 'writer/review@1', 'writer@2', 'writer/review@2', 'send@1'])
  expect(
    fold(timelineView, rows)
      .executions.toArray()
      .map(({ status }) => status),
  ).toEqual(['interrupted', 'ok', 'interrupted', 'ok', 'ok', 'ok'])
  expect(wrong(rows)).toEqual([])
})

test('a step that is cut by SIGKILL runs again, and its effects count once', async () => {
  const before = await serve()
  await start(before, 's2', 'working', hi)
  await follow(before, 's2', '"kind":"data"')
  writeFileSync(go, '')
  const address = await serve()
  await follow(address, 's2', '"outcome":"done"')
  const rows = await rowsOf(address, 's2')
  expect(rows.filter(({ event }) => event.kind === 'data')).toHaveLength(2)
  expect(fold(planView, rows).data.toArray()).toMatchObject([{ item: { name: 'Ann' } }])
  const lost = rows.find(({ event }) => event.kind === 'superseded')?.event
  expect(lost).toMatchObject({ nodes: ['save@1'], facts: true, messages: [expect.any(String)] })
  const nodes = rows.flatMap(({ event }) => (event.kind === 'node.started' ? [event.node] : []))
  expect(nodes).toEqual(['first@1', 'save@1', 'save@2'])
  expect(wrong(rows)).toEqual([])
})
