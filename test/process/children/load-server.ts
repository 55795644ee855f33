import { setTimeout } from 'node:timers/promises'
import { type Agent, createMillrace } from '@millrace/server'
import { sqliteLog } from '../../../packages/server/src/store/sqlite/log.ts'

// The whole server, over a real file, with an agent that sends a given number of tokens a second. Each token holds its time.
const [folder = '', runs = '', seconds = '', perSecond = ''] = process.argv.slice(2)
const tokens = Number(seconds) * Number(perSecond)
const log = await sqliteLog({ folder, now: Date.now })
const teller: Agent = {
  name: 'teller',
  describe: async () => ({
    name: 'teller',
    description: '',
    engine: 'adk',
    graph: { nodes: [], edges: [] },
    examples: [],
    resumable: false,
  }),
  async *run(_input, { run }) {
    // Runs begin at different moments of a beat, as they do in life.
    const begun = Date.now() + Math.random() * (1000 / Number(perSecond))
    for (let i = 0; i < tokens; i += 1) {
      await setTimeout(Math.max(0, begun + (i * 1000) / Number(perSecond) - Date.now()))
      const text = `[${i} ${Date.now()}] and as many words as a token has around it`
      const event = { id: `${run}-${i}`, author: 'teller', invocationId: run, timestamp: Date.now(), partial: true }
      yield { kind: 'agent', message: run, event: { ...event, content: { role: 'model', parts: [{ text }] } } }
    }
  },
}
const { app, engine } = await createMillrace({
  log,
  agents: { agents: new Map([['teller', teller]]) },
  now: Date.now,
  newId: () => crypto.randomUUID(),
  owner: 'load',
  version: 'load',
  // The buffers are full after some seconds: from then on the server holds no more.
  retain: { retainTotal: 2 * 1024 * 1024 },
})
const address = await app.listen({ port: 0, host: '127.0.0.1', backlog: 4096 })
const sessions = Array.from({ length: Number(runs) }, (_, i) => `s${i}`)
for (const id of sessions) await log.create({ id, user: id, agent: 'teller' })

/** The least that was held since last asked: what lives. A collection asked for would stop everybody for 0.1 s. */
let least = Number.POSITIVE_INFINITY
setInterval(() => {
  const { heapUsed, external } = process.memoryUsage()
  least = Math.min(least, heapUsed + external)
}, 100)

process.on('message', async (asked: string) => {
  // Before the first word and after the last: then a collection disturbs no measurement.
  if (asked !== 'least') gc?.()
  const { heapUsed, external } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  process.send?.({ asked, memory: asked === 'least' ? least : heapUsed + external, cpu: (user + system) / 1e6 })
  least = Number.POSITIVE_INFINITY
  if (asked !== 'start') return
  for (const session of sessions)
    await engine.start({ session, user: session, agent: 'teller', run: `${session}-r`, input: { messages: [] } })
})
process.send?.({ port: Number(new URL(address).port) })
