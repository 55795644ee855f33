import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answerBrokenHttp } from './client-error.ts'

// A slow request is given up as soon as Node looks for one.
const server = createServer({ headersTimeout: 1, requestTimeout: 1, connectionsCheckingInterval: 20 }, (_, answer) =>
  answer.end(),
)
server.on('clientError', answerBrokenHttp)
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => void server.close())

async function answerTo(bytes: string): Promise<readonly [status: number, detail: unknown]> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.setEncoding('utf8').write(bytes)
  let text = ''
  for await (const more of socket) text += more
  const { status, detail } = JSON.parse(text.slice(text.indexOf('\r\n\r\n'))) as Record<string, unknown>
  expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  return [Number(status), detail]
}

const get = 'GET / HTTP/1.1\r\nhost: localhost\r\n'
test.each([
  ['comes too slowly', get, 408, 'did not arrive whole in time'],
  ['has too many headers', `${get}${`x-many: ${'y'.repeat(80)}\r\n`.repeat(400)}\r\n`, 431, 'headers .* too large'],
  ['is not HTTP', 'hello\r\n\r\n', 400, 'not a valid HTTP request'],
])('a request that %s is refused with a sentence that says so', async (_, bytes, status, detail) => {
  expect(await answerTo(bytes)).toEqual([status, expect.stringMatching(detail)])
})
