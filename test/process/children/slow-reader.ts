import { adk } from '@millrace/core'
import { runEngine } from '../../../packages/server/src/run/engine.ts'
import { sqliteLog } from '../../../packages/server/src/store/sqlite/log.ts'
import { streams } from '../../../packages/server/src/stream/streams.ts'
import { serveStreams } from '../../kit/stream-server.ts'

// A server with one agent that says `events` times `size` characters as fast as the store takes them.
const [folder = '', events = '', size = ''] = process.argv.slice(2)
const log = await sqliteLog({ folder, now: Date.now })
const text = 'x'.repeat(Number(size))
const engine = runEngine({
  log,
  agents: (name) => ({
    name,
    describe: () => Promise.reject(new Error('not asked')),
    async *run() {
      for (let i = 0; i < Number(events); i += 1) {
        const content = { role: 'model', parts: [{ text }] }
        const event = {
          id: `e${i}`,
          author: 'a',
          invocationId: 'i',
          timestamp: 1_700_000_000_000,
          partial: true,
          content,
        }
        yield { kind: 'agent', message: 'm', event }
      }
    },
  }),
  now: Date.now,
  newId: () => crypto.randomUUID(),
  owner: 'me',
})
const { port } = await serveStreams(streams({ log, dialects: [adk] }))

process.on('message', async (asked: { readonly session: string; readonly run?: boolean }) => {
  const { session } = asked
  if (asked.run !== true) await log.create({ id: session, user: 'u', agent: 'flood' })
  else await engine.start({ session, user: 'u', agent: 'flood', input: { messages: [] }, run: 'r' })
  process.send?.({ session, memory: memory() })
})
process.send?.({ port })

/** What the process holds, after everything that can go is gone. */
function memory(): number {
  gc?.()
  gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
