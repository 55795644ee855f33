import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { built, type Served, serveBuilt } from '../kit/built-server.ts'
import { isAlive } from '../kit/is-alive.ts'

// MCP toolsets, written as ADK's documentation does, on the built server and from a folder without packages.

const root = mkdtempSync(join(tmpdir(), 'millrace-mcp-'))
const tiny = fileURLToPath(new URL('../kit/mcp-server.mjs', import.meta.url))
let served: Served
const others: Served[] = []

/** An agent whose model calls `add`, then every further tool that the message names. */
const agentFile = (toolset: string): string => `
import { LlmAgent, MCPToolset } from '@google/adk'
import { call, model, say } from '@millrace/server/adk'
export const rootAgent = new LlmAgent({
  name: 'calc',
  model: model({ offline: ({ step, user, results }) => {
    const wanted = user.split(' ')
    if (step >= wanted.length) return say(JSON.stringify(results.map(({ response }) => response)))
    return call(wanted[step], wanted[step] === 'add' ? { a: 2, b: 3 } : {})
  } }),
  tools: [new MCPToolset(${toolset})],
})
`
const stdio = (...args: readonly string[]): string =>
  JSON.stringify({
    type: 'StdioConnectionParams',
    serverParams: { command: process.execPath, args: [tiny, ...args], stderr: 'ignore' },
  })

/** An MCP server on HTTP that counts its sessions. */
const sessions = new Map<string, StreamableHTTPServerTransport>()
let opened = 0
const web = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', async () => {
    const text = Buffer.concat(chunks).toString()
    const known = sessions.get(String(request.headers['mcp-session-id']))
    const transport = known ?? (await newSession())
    await transport.handleRequest(request, response, text === '' ? undefined : JSON.parse(text))
  })
})
async function newSession(): Promise<StreamableHTTPServerTransport> {
  opened += 1
  const id = `session-${opened}`
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => id,
    onsessionclosed: () => void sessions.delete(id),
  })
  sessions.set(id, transport)
  const server = new McpServer({ name: 'web', version: '1.0.0' })
  server.registerTool('add', { description: 'Adds' }, async () => ({ content: [{ type: 'text', text: 'five' }] }))
  await server.connect(transport)
  return transport
}

beforeAll(async () => {
  await built()
  web.listen(0, '127.0.0.1')
  await once(web, 'listening')
  const url = `http://127.0.0.1:${(web.address() as AddressInfo).port}/mcp`
  const agents = {
    calc: agentFile(stdio()),
    stubborn: agentFile(stdio('--stubborn')),
    web: agentFile(JSON.stringify({ type: 'StreamableHTTPConnectionParams', url })),
    absent: agentFile(JSON.stringify({ type: 'StdioConnectionParams', serverParams: { command: '/no/such/server' } })),
  }
  for (const [name, text] of Object.entries(agents)) {
    mkdirSync(join(root, 'agents', name), { recursive: true })
    writeFileSync(join(root, 'agents', name, 'agent.ts'), text)
  }
  served = await serve('data')
})
afterAll(async () => {
  for (const one of [served, ...others]) one.child.kill('SIGKILL')
  web.closeAllConnections()
  web.close()
  rmSync(root, { recursive: true, force: true })
})

const serve = (data: string, ...more: readonly string[]): Promise<Served> =>
  serveBuilt(['serve', '--port', '0', '--data-dir', join(root, data), '--agents', join(root, 'agents'), ...more], {
    PATH: process.env.PATH ?? '',
    HOME: root,
  })

let count = 0
/** Posts a message of a new session; gives back the response and the session's id. */
async function post(path: string, app: string, text: string, at = served) {
  count += 1
  const id = `s${count}`
  const headers = { 'content-type': 'application/json' }
  await fetch(`${at.address}/apps/${app}/users/u/sessions/${id}`, { method: 'POST', headers, body: '{}' })
  const newMessage = { role: 'user', parts: [{ text }] }
  const body = JSON.stringify({ appName: app, userId: 'u', sessionId: id, newMessage, streaming: true })
  return { id, response: await fetch(`${at.address}${path}`, { method: 'POST', headers, body }) }
}

const pidIn = (text: string): number => Number(/5 from (\d+)/.exec(text)?.[1] ?? Number.NaN)

/** Reads a stream until the answer of `add`, and gives back the process id in it. */
async function pidOf(response: Response): Promise<number> {
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString()
    const pid = pidIn(text)
    if (!Number.isNaN(pid)) return pid
  }
  throw new Error(`no process id in ${text}`)
}

const gone = (pid: number) => expect.poll(() => isAlive(pid)).toBe(false)

test('a toolset on stdio works, with one process for the whole run, which ends with the run', async () => {
  const { response } = await post('/run', 'calc', 'add add')
  const text = await response.text()
  expect(response.status, text).toBe(200)
  const pids = new Set([...text.matchAll(/5 from (\d+)/g)].map(([, pid]) => Number(pid)))
  expect(pids.size).toBe(1)
  await gone([...pids][0] ?? 0)
})

test('runs at the same time share a process, and it outlives the run that ends first', async () => {
  const hanging = await post('/run_sse?disconnect=continue', 'calc', 'add hang')
  const pid = await pidOf(hanging.response)
  expect(pidIn(await (await post('/run', 'calc', 'add')).response.text())).toBe(pid)
  expect(isAlive(pid)).toBe(true)
  await fetch(`${served.address}/sessions/${hanging.id}/cancel`, { method: 'POST' })
  await gone(pid)
})

test('a cancelled run ends the process, also one that ignores the end of its input and SIGTERM', async () => {
  const { id, response } = await post('/run_sse?disconnect=continue', 'stubborn', 'add hang')
  const pid = await pidOf(response)
  expect(isAlive(pid)).toBe(true)
  const answer = await fetch(`${served.address}/sessions/${id}/cancel`, { method: 'POST' })
  expect(answer.ok).toBe(true)
  await gone(pid)
})

test.each(['SIGTERM', 'SIGKILL'] as const)('a server that stops by %s leaves no process behind', async (signal) => {
  const own = await serve(signal, '--grace', '0')
  others.push(own)
  const { response } = await post('/run_sse?disconnect=continue', 'stubborn', 'add hang', own)
  const pid = await pidOf(response)
  const exited = once(own.child, 'exit')
  own.child.kill(signal)
  await exited
  await gone(pid)
})

test('a toolset on streamable HTTP works, and its session is closed after the run', async () => {
  const text = await (await post('/run', 'web', 'add add')).response.text()
  expect(text).toContain('five')
  expect(opened).toBe(1)
  await expect.poll(() => sessions.size).toBe(0)
})

test('a server that cannot be started fails the run with its name', async () => {
  const text = await (await post('/run_sse', 'absent', 'add')).response.text()
  expect(text).toContain('/no/such/server')
})
