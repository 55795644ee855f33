import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One answer of a model server: what the real one would write. */
export type Answer = (response: ServerResponse, request: IncomingMessage) => void | Promise<void>

export interface ModelServer {
  readonly url: string
  /** What was asked, in order: path and parsed body. */
  readonly requests: { readonly path: string; readonly headers: IncomingMessage['headers']; readonly body: Body }[]
  close(): Promise<void>
}
// biome-ignore lint/suspicious/noExplicitAny: a test reads what it knows is there
type Body = any

/** A server on loopback that gives the answers in order, and then repeats the last one. */
export async function modelServer(answers: readonly Answer[]): Promise<ModelServer> {
  const requests: ModelServer['requests'][number][] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    requests.push({
      path: request.url ?? '',
      headers: request.headers,
      body: JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}'),
    })
    await answers[Math.min(requests.length, answers.length) - 1]?.(response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

export const json =
  (body: object, status = 200, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify(body))
  }

/** `data:` frames; Gemini ends them with CRLF, OpenAI with LF and a last `[DONE]`. */
export const events =
  (data: readonly (object | string)[], end = '\n'): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const one of data) response.write(`data: ${typeof one === 'string' ? one : JSON.stringify(one)}${end}${end}`)
    response.end()
  }

/** Writes the frames, then says nothing more until the client is gone. */
export const stalled =
  (data: readonly object[], gone: () => void): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    for (const one of data) response.write(`data: ${JSON.stringify(one)}\n\n`)
    response.on('close', gone)
  }

/** Writes the frames and drops the connection. */
export const cut =
  (data: readonly object[]): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const one of data) response.write(`data: ${JSON.stringify(one)}\n\n`)
    setImmediate(() => response.destroy())
  }
