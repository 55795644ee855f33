import type { Socket } from 'node:net'
import { codeOf, problemBody } from './problem.ts'

const statusOf: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
}

/** What is no HTTP at all (or too slow, or too much of it) never becomes a request: the socket is told, and closed. */
export function answerBrokenHttp(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  // Once something was answered on it, further bytes would be read as part of that answer.
  if (socket.writable && socket.bytesWritten === 0) {
    const status = statusOf[error.code ?? ''] ?? 400
    const body = JSON.stringify(problemBody(codeOf(status), 'this is not a request that can be read'))
    socket.write(
      `HTTP/1.1 ${status} Refused\r\ncontent-type: application/problem+json; charset=utf-8\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    )
  }
  socket.destroySoon()
}
