import { createServer, request as httpRequest, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { proxyHandler } from '../packages/cli/src/tap/proxy.ts'
import { median, type Row } from './kit/row.ts'

const events = 200
const rounds = 5

/** What recording adds to the way of an event, against a proxy that only passes bytes on. Both stand before one server. */
export async function bench(): Promise<Row[]> {
  const stamped = await listen((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    let sent = 0
    const send = (): void => {
      if (sent === events) return void response.end()
      // The time at which it was sent is in the frame.
      const text = `${performance.now()}`
      const event = { id: `e${sent++}`, author: 'a', partial: true, content: { role: 'model', parts: [{ text }] } }
      response.write(`data: ${JSON.stringify(event)}\n\n`)
      // One at a time: a stream that is sent as fast as it can be would measure the queue.
      setTimeout(send, 1)
    }
    send()
  })
  const target = addressOf(stamped)
  const bare = await listen((request, response) => {
    const upstream = httpRequest(target + request.url, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    request.pipe(upstream)
  })
  const tap = await listen(proxyHandler(target, { dialect: 'adk', onTaped: () => {}, onUnanswered: () => {} }))
  const delays = { ours: [] as number[], peer: [] as number[] }
  for (let round = -1; round < rounds; round++) {
    const [ours, peer] = [await delaysThrough(addressOf(tap)), await delaysThrough(addressOf(bare))]
    if (round < 0) continue
    delays.ours.push(highest(ours))
    delays.peer.push(highest(peer))
  }
  for (const server of [stamped, bare, tap]) server.close()
  const [ours, peer] = [median(delays.ours), median(delays.peer)]
  return [
    {
      what: 'tap: delay of an event at p99, ms',
      ours,
      peer: 'a bare proxy',
      peerValue: peer,
      limit: 'a bare proxy, 1.0x',
      ratio: ours / peer,
      bar: 'at most 2 ms more',
      ok: ours - peer < 2,
    },
  ]
}

const highest = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? Number.NaN

async function delaysThrough(address: string): Promise<readonly number[]> {
  const answer = await fetch(`${address}/run_sse`)
  const delays: number[] = []
  const decoder = new TextDecoder()
  let held = ''
  for await (const bytes of answer.body ?? []) {
    const now = performance.now()
    held += decoder.decode(bytes, { stream: true })
    const blocks = held.split('\n\n')
    held = blocks.pop() ?? ''
    for (const block of blocks) {
      const [, sent = ''] = /"text":"([\d.]+)"/.exec(block) ?? []
      delays.push(now - Number(sent))
    }
  }
  if (delays.length !== events) throw new Error(`${delays.length} of ${events} events came`)
  return delays
}

function listen(listener: RequestListener): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer(listener).listen(0, '127.0.0.1', () => resolve(server))
  })
}

const addressOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
