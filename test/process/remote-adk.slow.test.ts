import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Call, callsView, fold, type Recorded, usageView } from '@millrace/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { wrongWith } from '../authors/kit/session.ts'
import { adkApiServer } from '../kit/adk-api-server.ts'
import { ending, type Front, frontOf, spoken } from '../kit/remote-front.ts'
import { scriptedAdkAgents, scriptedAdkFolder } from '../kit/scripted-adk-agents.ts'

// Agents on ADK's own API server, behind a Millrace that runs them as remote agents.

const folder = mkdtempSync(join(tmpdir(), 'millrace-remote-adk-'))
let upstream: Awaited<ReturnType<typeof adkApiServer>>
const fronts = new Map<string, Front>()
beforeAll(async () => {
  upstream = await adkApiServer(scriptedAdkFolder(folder))
  for (const app of Object.keys(scriptedAdkAgents))
    fronts.set(app, await frontOf({ url: upstream.url, dialect: 'adk', app }))
})
afterAll(async () => {
  for (const front of fronts.values()) await front.close()
  await upstream.stop()
  rmSync(folder, { recursive: true })
})

const run = (app: string, session: string, text: string): Promise<readonly Recorded[]> => {
  const front = fronts.get(app)
  if (front === undefined) throw new Error(`no ${app}`)
  return front.run(session, text)
}
const modelCalls = (rows: readonly Recorded[]): readonly Call[] =>
  fold(callsView, rows)
    .calls.toArray()
    .filter(({ kind }) => kind === 'model')

test('SPEC 1.9: the calls of agents on an ADK server are recorded from its own events', async () => {
  const rows = await run('desk', 's1', 'Where is it?')
  expect([ending(rows), spoken(rows)]).toEqual(['done', ['Order A7 is late.']])
  const told = modelCalls(rows).map(({ agent, name, status, finishReason, recorded, remote, firstToken, usage }) => ({
    agent,
    name,
    status,
    finishReason,
    recorded,
    remote,
    streamed: firstToken !== undefined,
    input: usage?.inputTokens,
  }))
  const each = { name: 'scripted-1', status: 'ok', finishReason: 'STOP', recorded: false, remote: true }
  expect(told).toMatchObject([
    { ...each, agent: 'desk', streamed: false, input: 10 },
    { ...each, agent: 'billing', streamed: false },
    { ...each, agent: 'billing', streamed: true },
  ])
  // What came after the transfer is longer, so the tokens grow from call to call.
  expect(told.map(({ input = 0 }) => input)).toEqual(told.map(({ input = 0 }) => input).toSorted((a, b) => a - b))
  expect(fold(usageView, rows).total.modelCalls).toBe(3)
  const tools = fold(callsView, rows)
    .calls.toArray()
    .filter(({ kind }) => kind === 'tool')
  expect(tools.map(({ name, status }) => [name, status])).toEqual([
    ['transfer_to_agent', 'ok'],
    ['look', 'ok'],
  ])
  expect(await fronts.get('desk')?.get('/sessions/s1/state')).toMatchObject({
    state: { order: 'A7', advice: 'Order A7 is late.' },
  })
  expect(wrongWith(rows)).toEqual([])

  // The other server keeps the conversation: the agent that took over answers the next message.
  const second = await run('desk', 's1', 'And now?')
  expect(modelCalls(second).map(({ agent }) => agent)).toEqual(['billing', 'billing'])
})

test('agents beside each other on an ADK server have calls of their own', async () => {
  const rows = await run('pair', 's1', 'How is it?')
  expect(ending(rows)).toBe('done')
  const calls = modelCalls(rows)
  expect(calls.map(({ agent }) => agent).toSorted()).toEqual(['north', 'south', 'sum'])
  expect(calls.at(-1)?.agent).toBe('sum')
  expect(calls.every(({ status, messages }) => status === 'ok' && messages?.length === 1)).toBe(true)
  expect(spoken(rows).toSorted()).toEqual(['Cold and warm.', 'It is cold.', 'It is warm.'])
  expect(wrongWith(rows)).toEqual([])
})

test('a model that fails on an ADK server fails its call and the run', async () => {
  const rows = await run('desk', 's2', 'fail')
  expect(ending(rows)).toBe('failed (model-error: the model is down)')
  expect(modelCalls(rows)).toMatchObject([{ agent: 'desk', status: 'error', error: { message: 'the model is down' } }])
})
