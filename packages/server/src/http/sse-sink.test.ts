import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { bytesOf } from '../stream/encoded-row.ts'
import type { Sink } from '../stream/reader.ts'
import { type SseResponse, sseResponse } from './sse-sink.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

async function serve(handle: (opened: SseResponse, request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer((request, response) => handle(sseResponse(response), request, response))
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
const write = (sink: Sink, text: string): boolean => {
  const bytes = bytesOf(text)
  return sink.write(sink.chunked ? bytes.chunked : bytes.plain)
}

/** A client on a bare socket: every byte of the answer counts. */
async function dial(
  port: number,
  request: string,
): Promise<{ socket: Socket; text: () => string; closed: Promise<unknown> }> {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.setEncoding('latin1')
  socket.on('data', (data) => {
    text += data
  })
  socket.on('error', () => {})
  const closed = once(socket, 'close')
  await once(socket, 'connect')
  socket.write(request)
  return { socket, text: () => text, closed }
}
async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise((resolve) => setImmediate(resolve))
}

test('HTTP/1.1: the promised headers, chunked, and the connection serves the next request', async () => {
  const port = await serve(({ sink }) => {
    write(sink, 'data: one\n\n')
    write(sink, 'data: two\n\n')
    sink.end()
  })
  const { socket, text } = await dial(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await until(() => text().endsWith('0\r\n\r\n'))
  const [head, body] = text()
    .split('\r\n\r\n', 1)
    .concat(text().slice(text().indexOf('\r\n\r\n') + 4))
  expect(head?.toLowerCase()).toContain(
    'content-type: text/event-stream\r\ncache-control: no-store\r\nx-accel-buffering: no',
  )
  expect(head?.toLowerCase()).toContain('transfer-encoding: chunked')
  expect(body).toBe('b\r\ndata: one\n\n\r\nb\r\ndata: two\n\n\r\n0\r\n\r\n')
  const first = text().length
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await until(() => text().length > first && text().endsWith('0\r\n\r\n'))
  expect(text().slice(first)).toContain('b\r\ndata: two\n\n\r\n')
  socket.destroy()
})

test('the head goes out before the first event', async () => {
  const port = await serve(() => {})
  const { socket, text } = await dial(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await until(() => text().endsWith('\r\n\r\n'))
  expect(text()).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  socket.destroy()
})

test('HTTP/1.0: the body without chunk framing, ended by the close', async () => {
  const port = await serve(({ sink }) => {
    write(sink, 'data: one\n\n')
    sink.end()
  })
  const { text, closed } = await dial(port, 'GET / HTTP/1.0\r\n\r\n')
  await closed
  expect(text()).toMatch(/\r\n\r\ndata: one\n\n$/)
  expect(text().toLowerCase()).not.toContain('transfer-encoding')
})

test('HEAD: the head alone, and no body is written', async () => {
  let aborted = false
  const port = await serve(({ signal }) => {
    aborted = signal.aborted
  })
  const { text, closed } = await dial(port, 'HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  await closed
  expect(aborted).toBe(true)
  expect(text().toLowerCase()).toContain('content-type: text/event-stream')
  expect(text().endsWith('\r\n\r\n')).toBe(true)
})

test('pipelined requests: the second answer waits for the end of the first', async () => {
  const opened: SseResponse[] = []
  const port = await serve((response) => opened.push(response))
  const ask = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
  const { socket, text } = await dial(port, ask + ask)
  await until(() => opened.length === 2)
  const [first, second] = opened
  write(second!.sink, 'data: second\n\n')
  second!.sink.end()
  write(first!.sink, 'data: first\n\n')
  first!.sink.end()
  await until(() => text().split('0\r\n\r\n').length === 3)
  expect(text().indexOf('data: first')).toBeLessThan(text().indexOf('0\r\n\r\n'))
  expect(text().indexOf('data: second')).toBeGreaterThan(text().indexOf('0\r\n\r\n'))
  socket.destroy()
})

test('a client that vanishes aborts the signal, and later writes do no harm', async () => {
  const opened: SseResponse[] = []
  const port = await serve((response) => opened.push(response))
  const { socket } = await dial(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await until(() => opened.length === 1)
  const { sink, signal } = opened[0]!
  socket.resetAndDestroy()
  await until(() => signal.aborted)
  expect(write(sink, 'data: late\n\n')).toBe(false)
  sink.end()
  sink.destroy()
})

test('a write to a full socket returns false, and onDrain is called when there is room', async () => {
  const opened: SseResponse[] = []
  const port = await serve((response) => opened.push(response))
  const { socket } = await dial(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  socket.pause()
  await until(() => opened.length === 1)
  const { sink } = opened[0]!
  let drained = 0
  sink.onDrain(() => {
    drained += 1
  })
  while (write(sink, 'x'.repeat(32_768))) await new Promise((resolve) => setImmediate(resolve))
  expect(drained).toBe(0)
  socket.resume()
  await until(() => drained > 0)
  expect(write(sink, 'y')).toBe(true)
  socket.destroy()
})
