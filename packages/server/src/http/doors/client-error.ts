import type { Socket } from 'node:net'
import { codeOf, problemBody } from './problem.ts'
import { protectionHeaders } from './protection.ts'

const refusals: Readonly<Record<string, readonly [status: number, detail: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request did not arrive whole in time; send it again without a pause'],
  HPE_HEADER_OVERFLOW: [431, 'the headers of the request are too large; send fewer or shorter ones'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'the chunks of the request have extensions that are too large; send none'],
}
const notHttp = [400, 'the bytes received are not a valid HTTP request'] as const

const protection = Object.entries(protectionHeaders)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('')

/** Answers and closes a socket whose bytes are not HTTP, come too slowly or are too many to become a request. */
export function answerBrokenHttp(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  // After an earlier answer on this socket, the client would read these bytes as a part of it.
  if (socket.writable && socket.bytesWritten === 0) {
    const [status, detail] = refusals[error.code ?? ''] ?? notHttp
    const body = JSON.stringify(problemBody(codeOf(status), detail))
    socket.write(
      `HTTP/1.1 ${status} Refused\r\ncontent-type: application/problem+json; charset=utf-8\r\n${protection}` +
        `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    )
  }
  socket.destroySoon()
}
