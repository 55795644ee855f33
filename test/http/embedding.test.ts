import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { memoryLog } from '@millrace/core'
import { type EmbeddedMillrace, millrace } from '@millrace/server'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { scriptedAgent, speech } from '../kit/scripted-agent.ts'

type Host = (app: EmbeddedMillrace) => Promise<{ readonly address: string; close(): Promise<unknown> }>

/** Packages that come with others: Express with the MCP SDK, Fastify with our server. */
const load = createRequire(import.meta.url)

async function listening(server: Server) {
  await once(server, 'listening')
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mill`
  const close = async (): Promise<void> => {
    server.close()
    server.closeAllConnections()
  }
  return { address, close }
}

/** Says one word, waits until the test lets it go on, and ends. */
let go: () => void = () => undefined
const patient = scriptedAgent('patient', async function* () {
  const [first, ...rest] = speech('patient', 'one two')
  if (first !== undefined) yield first
  await new Promise<void>((resolve) => {
    go = resolve
  })
  yield* rest
})

const hosts: Readonly<Record<string, Host>> = {
  'node:http': async (app) => listening(createServer(app.handler).listen(0, '127.0.0.1')),
  'Express 5': async (app) => {
    const express = load('express') as () => { use(path: string, handler: unknown): { listen(port: number): Server } }
    return listening(express().use('/mill', app.handler).listen(0))
  },
  'a Fastify plugin': async (app) => {
    const { fastify } = load('fastify') as typeof import('fastify')
    const host = fastify({ forceCloseConnections: true })
    await host.register(app.plugin)
    host.get('/own', async () => 'mine')
    await host.listen({ port: 0, host: '127.0.0.1' })
    return { address: `${host.listeningOrigin}/mill`, close: () => host.close() }
  },
  // A route handler of Next is a function from Request to Response; this is what Next does around one.
  'a web route handler': async (app) => listening(createServer(webHandler(app.fetch)).listen(0, '127.0.0.1')),
}

function webHandler(answer: (request: Request) => Promise<Response>): RequestListener {
  return (incoming, outgoing) => {
    const left = new AbortController()
    outgoing.on('close', () => left.abort())
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', async () => {
      const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }
      const headers = incoming.headers as Record<string, string>
      const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
        method: incoming.method ?? 'GET',
        headers,
        signal: left.signal,
        ...body,
      })
      const response = await answer(request)
      outgoing.writeHead(response.status, Object.fromEntries(response.headers))
      outgoing.flushHeaders()
      const reader = response.body?.getReader()
      left.signal.addEventListener('abort', () => void reader?.cancel().catch(() => undefined))
      for (;;) {
        const { done, value } = (await reader?.read().catch(() => undefined)) ?? { done: true }
        if (done) break
        outgoing.write(value)
      }
      outgoing.end()
    })
  }
}

describe.each(Object.entries(hosts))('inside %s', (_, host) => {
  const start = async () => {
    const app = await millrace({ agents: [patient], log: memoryLog(Date.now), basePath: '/mill' })
    const mounted = await host(app)
    open.push(async () => {
      await mounted.close()
      await app.close(0)
    })
    const post = (path: string, body: unknown, signal?: AbortSignal) =>
      fetch(mounted.address + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        ...(signal === undefined ? {} : { signal }),
      })
    return { app, post, address: mounted.address }
  }
  const open: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of open.splice(0)) await close()
  })

  test('answers, refuses, and streams as it happens', async () => {
    const { post, address } = await start()
    expect(await (await fetch(`${address}/agents`)).json()).toMatchObject({ agents: [{ name: 'patient' }] })
    expect((await fetch(`${address}/nowhere`)).status).toBe(404)
    expect((await post('/run_sse', { appName: 'patient' })).status).toBe(422)
    const answer = await post('/', { threadId: 't', runId: 'r', messages: [{ id: '1', role: 'user', content: 'Hi' }] })
    expect(answer.headers.get('content-type')).toContain('text/event-stream')
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!text.includes('one')) text += (await reader?.read())?.value ?? ''
    expect(text).not.toContain('two')
    go()
    for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) text += next.value
    expect(text).toContain('two')
    expect(text).toContain('RUN_FINISHED')
  })

  test('a client that leaves is no reader any more, and its run goes on', async () => {
    const { app, post } = await start()
    const left = new AbortController()
    const body = { threadId: 't', runId: 'r', messages: [{ id: '1', role: 'user', content: 'Hi' }] }
    const answer = await post('/', body, left.signal)
    const reader = answer.body?.getReader()
    await reader?.read()
    expect(app.streams.readers).toBe(1)
    left.abort()
    await vi.waitUntil(() => app.streams.readers === 0, { timeout: 30_000 })
    expect(app.engine.active).toBe(1)
    go()
    expect(await app.engine.wait('t', 'r')).toBe('done')
  })
})

describe('by its defaults', () => {
  test('it is a server of its own, too', async () => {
    const app = await millrace({ agents: [patient], log: memoryLog(Date.now) })
    const address = await app.app.listen({ port: 0, host: '127.0.0.1' })
    expect((await fetch(`${address}/health`)).status).toBe(200)
    await app.close(0)
    await expect(fetch(`${address}/health`)).rejects.toThrow()
  })
})
