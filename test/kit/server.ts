import { type EventLog, memoryLog } from '@millrace/core'
import { type Agent, createMillrace, type Millrace, type MillraceOptions, postgresLog } from '@millrace/server'
import { testDatabase } from './test-database.ts'

/**
 * A whole server for tests: ids count up, agents are given, and it does not listen by itself. Its log is in memory, or in
 * PostgreSQL, in a schema of its own, where the run of the tests asks for that (`npm run test:postgres`).
 */
export async function testServer(
  options: Partial<MillraceOptions> & { readonly with?: readonly Agent[] } = {},
): Promise<Millrace & { readonly log: EventLog }> {
  let ids = 0
  const log = options.log ?? (await newLog())
  const millrace = await createMillrace({
    log,
    agents: { agents: new Map((options.with ?? []).map((agent) => [agent.name, agent])) },
    now: Date.now,
    newId: () => `id-${++ids}`,
    owner: 'test',
    version: 'test',
    ...options,
  })
  const close = async (grace: number): Promise<void> => {
    await millrace.close(grace)
    if (options.log === undefined) await log.close()
  }
  return { ...millrace, log, close }
}

let schemas = 0
async function newLog(): Promise<EventLog> {
  const url = testDatabase()
  if (url === undefined) return memoryLog(Date.now)
  return postgresLog({ url, schema: `test ${process.pid} ${schemas++}`, connections: 3 })
}
