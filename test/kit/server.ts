import { type EventLog, memoryLog } from '@millrace/core'
import { type Agent, createMillrace, type Millrace, type MillraceOptions } from '@millrace/server'

/** A whole server over a log in memory, for tests: ids count up, agents are given, and it does not listen by itself. */
export async function testServer(
  options: Partial<MillraceOptions> & { readonly with?: readonly Agent[] } = {},
): Promise<Millrace & { readonly log: EventLog }> {
  let ids = 0
  const log = options.log ?? memoryLog(Date.now)
  const millrace = await createMillrace({
    log,
    agents: { agents: new Map((options.with ?? []).map((agent) => [agent.name, agent])) },
    now: Date.now,
    newId: () => `id-${++ids}`,
    owner: 'test',
    version: 'test',
    ...options,
  })
  return { ...millrace, log }
}
