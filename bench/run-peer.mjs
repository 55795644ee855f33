// The peer of bench/run.ts: node:http, ADK's Runner and its sessions in memory, with two routes of ADK's API.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { InMemorySessionService, LogLevel, Runner, StreamingMode, setLogLevel } from '@google/adk'
import { rootAgent } from './run-agents/instant/agent.mjs'

setLogLevel(LogLevel.ERROR)
const appName = 'instant'
const sessionService = new InMemorySessionService()
const runner = new Runner({ appName, agent: rootAgent, sessionService })

const server = createServer(async (request, response) => {
  // /apps/instant/users/{user}/sessions/{session}
  const [, , , , userId, , sessionId] = request.url.split('/')
  if (userId !== undefined) {
    await sessionService.createSession({ appName, userId, sessionId })
    response.end('{}')
    return
  }
  const { userId: user, sessionId: session, newMessage } = JSON.parse(await text(request))
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  const events = runner.runAsync({
    userId: user,
    sessionId: session,
    newMessage,
    runConfig: { streamingMode: StreamingMode.SSE },
  })
  for await (const event of events) response.write(`data: ${JSON.stringify(event)}\n\n`)
  response.end()
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
console.log(`listening on http://127.0.0.1:${server.address().port}`)
