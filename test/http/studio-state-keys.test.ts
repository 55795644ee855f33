import { fileURLToPath } from 'node:url'
import {
  applyState,
  flowView,
  fold,
  type JsonObject,
  type Recorded,
  stateKeys,
  studio,
  timelineView,
} from '@millrace/core'
import { discoverAgents } from '@millrace/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SseStream } from '../../packages/react/src/sse-stream.ts'
import { testServer } from '../kit/server.ts'

/** What `useSSE({ dialect: studio })` has of a run is what the views have of its log, though it came over Studio's wire. */
let server: Awaited<ReturnType<typeof testServer>>
let address: string
beforeAll(async () => {
  const folder = fileURLToPath(new URL('../../agents/', import.meta.url))
  server = await testServer({ agents: discoverAgents(folder, { models: { tokensPerSecond: 0 } }) })
  address = await server.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => server.close(0))

const questions = [
  ['assistant', 'Add a proverb: Still waters run deep', 'Add a proverb: No smoke without fire'],
  ['recovery', 'Give me a recovery briefing for Cedar Creek Fire', 'How severe was the Cedar Creek burn?'],
  ['research', 'Research quantum computing', 'Research solar power'],
  ['planner', 'Plan a competitor analysis of the CRM market', 'Plan a trip to Lisbon'],
] as const

/** Runs the agent as a page does that calls `useSSE`, and has the state that the page then has. */
async function streamed(agent: string, input: string): Promise<SseStream<unknown>['state']> {
  const url = `${address}/api/projects/${agent}/stream?input=${encodeURIComponent(input)}&session_id=${agent}-1`
  const stream = new SseStream(() => ({ dialect: studio }))
  await new Promise<void>((resolve, reject) => {
    stream.attach(({ status, error }) => {
      if (error !== undefined) reject(error)
      if (status === 'closed') resolve()
    })
    stream.connect(url)
  })
  return stream.state
}

/** What a client that comes with a later run knows of those before it: the state that they left. */
function broughtBy(rows: readonly Recorded[]): readonly Recorded[] {
  const left = rows.reduce<JsonObject>((state, { event }) => applyState(state, event), {})
  const patch = Object.entries(left).map(([key, value]) => ({ op: 'add', path: `/${key}`, value }) as const)
  return patch.length === 0 ? [] : [{ seq: rows.length, at: 0, run: '', event: { kind: 'state', patch } }]
}

describe.each(questions)('%s: the state keys of useSSE are those on the edges of the flow view', (agent, ...inputs) => {
  test.each(inputs)('%s', async (input) => {
    const before = await server.log.read(`${agent}-1`, { after: 0 }).catch(() => [])
    const { stateKeys: keys, snapshots } = await streamed(agent, input)
    const rows = [...broughtBy(before), ...(await server.log.read(`${agent}-1`, { after: before.length }))]
    expect(keys).toEqual(stateKeys(fold(flowView, rows)))
    expect(keys.size).toBeGreaterThan(0)
    expect(snapshots).toHaveLength(fold(timelineView, rows).executions.toArray().length)
  })
})
