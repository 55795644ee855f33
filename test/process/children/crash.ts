import { agentOf, openSystem, sessions } from '../../kit/crash-system.ts'
import { serveStreams } from '../../kit/stream-server.ts'

// Recovers, serves, and on `go` keeps one run going in each of twenty sessions, until it is killed.
const [folder = '', round = ''] = process.argv.slice(2)
const { log, engine, streams } = await openSystem(folder, 2)
const recovered = await engine.recover()
const { port } = await serveStreams(streams)
for (let i = 0; i < sessions; i += 1) {
  await log.create({ id: `${round}.${i}`, user: 'u', agent: agentOf(i) })
}
process.on('message', () => {
  for (let i = 0; i < sessions; i += 1) void keepRunning(`${round}.${i}`, agentOf(i))
})
process.send?.({ port, recovered })

async function keepRunning(session: string, agent: string): Promise<void> {
  for (;;) {
    const { run } = await engine.start({ session, user: 'u', agent, input: { messages: [] } })
    await engine.wait(session, run)
  }
}
