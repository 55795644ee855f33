import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sseResponse } from '../../packages/server/src/http/sse-sink.ts'
import type { Streams } from '../../packages/server/src/stream/streams.ts'

/** `GET /?session=&dialect=&run=` with `Last-Event-ID`, on a bare node:http server. */
export async function serveStreams(streams: Streams): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? '/', 'http://localhost').searchParams
    const { sink, signal } = sseResponse(response)
    const after = Number(request.headers['last-event-id'] ?? 0)
    const run = query.get('run') ?? undefined
    const options = { dialect: query.get('dialect') ?? 'adk', after, signal, ...(run === undefined ? {} : { run }) }
    void streams.open(query.get('session') ?? '', options, sink)
  })
  server.listen(0, '127.0.0.1', 4096)
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}
