import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { adk, memoryLog, printFrame, type RunEvent } from '@millrace/core'
import { sseResponse, streams } from '@millrace/server'
import { median, type Row } from './kit/row.ts'

const readers = 1000
const frames = 24
const repetitions = 9

/** One side of the comparison: a server, and how it sends a number of tokens to every reader at once. */
interface Side {
  readonly server: Server
  say(tokens: number): unknown
}

/** A frame of 330 bytes: an ADK token event. */
const token: RunEvent = {
  kind: 'agent',
  message: 'm',
  event: {
    id: '0b5e1a86-6f7e-4f0e-9a86-3f6c7c1d2e4b',
    author: 'coordinator',
    invocationId: 'e-7d0c6f0e-1111-4e0e-8a86-3f6c7c1d2e4b',
    timestamp: 1_763_200_000_000,
    partial: true,
    content: { role: 'model', parts: [{ text: 'a token, with as many words around it as it takes to be usual' }] },
  },
}

/** Ours, whole: append to a log, follow it, encode, frame, deliver. */
async function ours(): Promise<Side> {
  const log = memoryLog(Date.now)
  await log.create({ id: 's', user: 'u', agent: 'a' })
  const lease = await log.acquire('s', 'r', 'bench', 1e9)
  const out = streams({ log, dialects: [adk] })
  const server = createServer((_, response) => {
    const { sink, signal } = sseResponse(response)
    void out.open('s', { dialect: 'adk', signal }, sink)
  })
  const say = (tokens: number) =>
    log.append(
      's',
      Array.from({ length: tokens }, () => ({ run: 'r', event: token })),
      lease,
    )
  return { server, say }
}

/** The peer: node:http and a ready buffer, `response.write` to each. */
async function bare(): Promise<Side> {
  const responses = new Set<ServerResponse>()
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    response.write('retry: 1000\n\n')
    responses.add(response)
    response.on('close', () => responses.delete(response))
  })
  const [frame = { data: '' }] = adk.encoder({ session: 's' }).push({ seq: 1, at: 1, run: 'r', event: token })
  const ready = Buffer.from(printFrame({ ...frame, id: '100' }))
  const say = (tokens: number) => {
    for (let i = 0; i < tokens; i += 1) for (const response of responses) response.write(ready)
  }
  return { server, say }
}

/** Microseconds of this process per frame delivered, when `tokens` come at once and the next ones when all have them. */
async function cost(side: Side, client: ChildProcess, tokens: number): Promise<number> {
  const { server, say } = side
  server.listen(0, '127.0.0.1', 4096)
  await once(server, 'listening')
  const read = async (asked: object, act: () => unknown): Promise<void> => {
    const answered = once(client, 'message')
    client.send(asked)
    await act()
    await answered
  }
  await read({ port: (server.address() as AddressInfo).port, count: readers, frames: 1 }, () => {})
  const before = process.cpuUsage()
  for (let said = 0; said < frames; said += tokens) await read({ frames: tokens }, () => say(tokens))
  const { user, system } = process.cpuUsage(before)
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
  return (user + system) / (frames * readers)
}

/** `limit`: pre-chunked bytes to the sockets, without a log. */
async function compared(client: ChildProcess, tokens: number, bar: number, limit: number): Promise<Row> {
  const pairs: [number, number][] = []
  for (let i = -1; i < repetitions; i += 1) {
    // They take turns, so that a slow moment of the machine hits both.
    const mineFirst = i % 2 === 0
    const theirs = mineFirst ? undefined : await cost(await bare(), client, tokens)
    const mine = await cost(await ours(), client, tokens)
    if (i >= 0) pairs.push([mine, theirs ?? (await cost(await bare(), client, tokens))])
  }
  const ratio = median(pairs.map(([mine, theirs]) => mine / theirs))
  const what = tokens === 1 ? 'one token' : `${tokens} tokens of one tick`
  return {
    what: `${what} to ${readers.toLocaleString('en')} readers, µs of CPU per frame delivered`,
    ours: median(pairs.map(([mine]) => mine)),
    peer: 'node:http, response.write of a ready buffer',
    peerValue: median(pairs.map(([, theirs]) => theirs)),
    limit: `${limit} of it`,
    ratio,
    bar: `≤ ${bar}`,
    ok: ratio <= bar,
  }
}

export async function bench(): Promise<Row[]> {
  const client = fork(fileURLToPath(new URL('fanout-readers.mjs', import.meta.url)))
  try {
    return [await compared(client, 1, 1.25, 0.66), await compared(client, 8, 0.5, 0.21)]
  } finally {
    client.kill()
  }
}
