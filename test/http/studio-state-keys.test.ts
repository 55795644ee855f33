import { fileURLToPath } from 'node:url'
import { flowView, fold, stateKeys, studio, timelineView } from '@millrace/core'
import { discoverAgents } from '@millrace/server'
import { afterAll, beforeAll, expect, test } from 'vitest'
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

test.each([
  ['assistant', 'Add a proverb: Still waters run deep'],
  ['recovery', 'Give me a recovery briefing for Cedar Creek Fire'],
  ['research', 'Research quantum computing'],
  ['planner', 'Plan a competitor analysis of the CRM market'],
])('%s: the state keys of useSSE are those on the edges of the flow view', async (agent, input) => {
  const url = `${address}/api/projects/${agent}/stream?input=${encodeURIComponent(input)}&session_id=${agent}-1`
  const stream = new SseStream(() => ({ dialect: studio }))
  await new Promise<void>((resolve, reject) => {
    stream.attach(({ status, error }) => {
      if (error !== undefined) reject(error)
      if (status === 'closed') resolve()
    })
    stream.connect(url)
  })
  const rows = await server.log.read(`${agent}-1`, { after: 0 })
  const keys = stateKeys(fold(flowView, rows))
  expect(stream.state.stateKeys).toEqual(keys)
  expect(keys.size).toBeGreaterThan(0)
  const nodes = fold(timelineView, rows).executions.toArray()
  expect(stream.state.snapshots.map(({ nodeId }) => nodeId)).toHaveLength(nodes.length)
})
