import type { Socket } from 'node:net'
import { codeOf, problemBody } from './problem.ts'
import { protectionHeaders } from './protection.ts'

const statusOf: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
}

const protection = Object.entries(protectionHeaders)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('')

/** Answers and closes a socket whose bytes are not HTTP, come too slowly or are too many to become a request. */
export function answerBrokenHttp(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  // After an earlier answer on this socket, the client would read these bytes as a part of it.
  if (socket.writable && socket.bytesWritten === 0) {
    const status = statusOf[error.code ?? ''] ?? 400
    const body = JSON.stringify(problemBody(codeOf(status), 'the bytes received are not a valid HTTP request'))
    socket.write(
      `HTTP/1.1 ${status} Refused\r\ncontent-type: application/problem+json; charset=utf-8\r\n${protection}` +
        `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    )
  }
  socket.destroySoon()
}
