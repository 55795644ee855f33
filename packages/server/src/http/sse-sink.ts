import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Signal } from '@millrace/core'
import type { Sink } from '../stream/reader.ts'
import { Stop } from '../stream/stop.ts'

/** An opened SSE response: where to write, and a signal that aborts when the client disconnects. */
export interface SseResponse {
  readonly sink: Sink
  readonly signal: Signal
}

/**
 * Sends the head of an SSE response and returns what the streams write to. The body goes straight to the socket, with
 * HTTP chunk framing that is made once for all readers: measured, that takes 0.66x the CPU of `response.write`. A
 * response that does not own its socket yet (a pipelined request) or has no chunked encoding (HTTP/1.0, HTTP/2) uses
 * `response.write`. A HEAD request gets the head alone, and its signal is aborted from the start.
 */
export function sseResponse(response: ServerResponse, headers: OutgoingHttpHeaders = {}): SseResponse {
  const gone = new Stop()
  response.once('close', () => gone.abort())
  const { socket } = response
  if (socket !== null) {
    // What is known of the stream at once goes with the head, in one system call.
    socket.cork()
    setImmediate(() => socket.uncork())
  }
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    ...headers,
  })
  if (response.req.method === 'HEAD') {
    response.end()
    gone.abort()
  } else if (response.destroyed) gone.abort()
  else response.flushHeaders()
  // The kernel's keep-alive notices a client that vanished without closing, even while nothing is written to it.
  if (socket instanceof Socket) socket.setKeepAlive(true, 30_000)
  return { sink: sinkOf(response), signal: gone }
}

function sinkOf(response: ServerResponse): Sink {
  const { socket } = response
  const direct = socket instanceof Socket && response.chunkedEncoding
  const target = direct ? socket : response
  let drained = (): void => {}
  const onDrain = (): void => drained()
  target.on('drain', onDrain)
  // With keep-alive the socket outlives the response.
  response.once('close', () => target.off('drain', onDrain))
  return {
    chunked: direct,
    write(bytes, last = false) {
      if (target.destroyed) return false
      if (last) target.cork() // the end goes with it
      return target.write(bytes)
    },
    onDrain(resume) {
      drained = resume
    },
    end() {
      target.off('drain', onDrain)
      if (!response.destroyed) response.end()
      target.uncork()
    },
    destroy: () => response.destroy(),
  }
}
