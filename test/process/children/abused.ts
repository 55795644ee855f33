import { memoryLog } from '@millrace/core'
import { createMillrace } from '@millrace/server'
import { apiAgents } from '../../kit/api-samples.ts'

// A whole server that reports what it holds, so that what hostile clients leave behind can be measured.
const { app } = await createMillrace({
  log: memoryLog(Date.now),
  agents: { agents: new Map(apiAgents.map((agent) => [agent.name, agent])) },
  fallback: 'echo',
  now: Date.now,
  newId: () => crypto.randomUUID(),
  owner: 'abused',
  version: 'abused',
  limits: { shares: { starts: { user: 1_000_000 } } },
})
const address = await app.listen({ port: 0, host: '127.0.0.1', backlog: 2048 })
process.on('message', () => {
  gc?.()
  gc?.()
  const { heapUsed, external } = process.memoryUsage()
  process.send?.({ memory: heapUsed + external })
})
process.send?.({ address })
