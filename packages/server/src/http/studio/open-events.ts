import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { bytesOf } from '../../stream/encoded-row.ts'
import { type SseResponse, sseResponse } from '../sse-sink.ts'

/** Milliseconds between heartbeats, so that proxies keep the connection. */
const heartbeat = 15_000

/**
 * Event streams that stay open and never say more than their first words. They end when the server closes.
 */
export function openEvents(app: FastifyInstance): (request: FastifyRequest, reply: FastifyReply, text: string) => void {
  const open = new Set<SseResponse>()
  const write = ({ sink }: SseResponse, text: string): void => {
    const { chunked, plain } = bytesOf(text)
    sink.write(sink.chunked ? chunked : plain)
  }
  const timer = setInterval(() => {
    for (const each of open) write(each, ': heartbeat\n\n')
  }, heartbeat)
  timer.unref()
  app.addHook('preClose', async () => {
    clearInterval(timer)
    for (const { sink } of open) sink.end()
  })
  return (_request, reply, text) => {
    const inherited = reply.getHeaders() as Record<string, string>
    reply.hijack()
    const response = sseResponse(reply.raw, { ...inherited, vary: 'origin' })
    if (response.signal.aborted) return
    open.add(response)
    response.signal.addEventListener('abort', () => open.delete(response))
    write(response, text)
  }
}
