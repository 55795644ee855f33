import type { SessionInfo } from '@millrace/core'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { bytesOf } from '../../stream/encoded-row.ts'
import { mayTouch } from '../doors/access.ts'
import { type SseResponse, sseResponse } from '../sse-sink.ts'
import { sseText } from './sse-text.ts'

/** Milliseconds between heartbeats, so that proxies keep the connection. */
const heartbeat = 15_000
/** How many sessions are remembered, so that memory is bounded. */
const mostSessions = 1000

interface Listener {
  readonly request: FastifyRequest
  readonly project: string
  readonly response: SseResponse
}

/**
 * The streams on which ADK Studio's page waits for triggers. Projects have no webhooks here, so one thing only is
 * reported: that a run goes on after an answer. The page cannot send an answer while a stream of its own is open, so
 * its stream ends with the question, and on this report the page opens another one.
 */
export class WebhookEvents {
  readonly #listeners = new Set<Listener>()
  /** The sessions whose last stream was that of a page, oldest first. */
  readonly #pages = new Set<string>()

  constructor(app: FastifyInstance) {
    const timer = setInterval(() => {
      for (const { response } of this.#listeners) write(response, ': heartbeat\n\n')
    }, heartbeat)
    timer.unref()
    app.addHook('preClose', async () => {
      clearInterval(timer)
      for (const { response } of this.#listeners) response.sink.end()
    })
  }

  listen(request: FastifyRequest, reply: FastifyReply, project: string): void {
    const inherited = reply.getHeaders() as Record<string, string>
    reply.hijack()
    const response = sseResponse(reply.raw, { ...inherited, vary: 'origin' })
    if (response.signal.aborted) return
    const listener = { request, project, response }
    this.#listeners.add(listener)
    response.signal.addEventListener('abort', () => this.#listeners.delete(listener))
    write(response, sseText('connected', JSON.stringify({ project_id: project })))
  }

  /** Notes whether a page reads the session, which then gets a report when it goes on. */
  reads(session: string, isPage: boolean): void {
    this.#pages.delete(session)
    if (!isPage) return
    this.#pages.add(session)
    const [oldest] = this.#pages
    if (this.#pages.size > mostSessions && oldest !== undefined) this.#pages.delete(oldest)
  }

  resumed(key: string, session: SessionInfo, answer: unknown, now: number): void {
    if (!this.#pages.has(key)) return
    const notice = {
      session_id: session.id,
      path: 'resume',
      method: 'RESUME',
      payload: { response: answer },
      timestamp: now,
      binary_path: `agent:${session.agent}`,
    }
    for (const { request, project, response } of this.#listeners) {
      if (project === session.agent && mayTouch(request, session))
        write(response, sseText('webhook', JSON.stringify(notice)))
    }
  }
}

function write({ sink }: SseResponse, text: string): void {
  const { chunked, plain } = bytesOf(text)
  sink.write(sink.chunked ? chunked : plain)
}
