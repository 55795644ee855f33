import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sqliteLog } from '@millrace/server'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { packedMain } from '../kit/built-packages.ts'
import { said } from '../kit/engine-kit.ts'
import { unprivileged } from '../kit/unprivileged.ts'

const runner = fileURLToPath(new URL('../kit/run-child.mjs', import.meta.url))
const root = mkdtempSync(join(tmpdir(), 'millrace-serve-'))
chmodSync(root, 0o755)
const children = new Set<ChildProcess>()

/** The agent of these tests is another server, which sends a word and then waits until the test finishes or leaves it. */
const waiting = new Set<ServerResponse>()
const frame = (event: object): string => `data: ${JSON.stringify(event)}\n\n`
const upstream = createServer((request, response) => {
  request.resume()
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(frame({ type: 'RUN_STARTED', threadId: 't', runId: 'r' }))
  response.write(frame({ type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' }))
  response.write(frame({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'a word' }))
  waiting.add(response)
  response.on('close', () => waiting.delete(response))
})
function finish(response: ServerResponse): void {
  response.end(
    frame({ type: 'TEXT_MESSAGE_END', messageId: 'm' }) + frame({ type: 'RUN_FINISHED', threadId: 't', runId: 'r' }),
  )
}

beforeAll(async () => {
  upstream.listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  const { port } = upstream.address() as AddressInfo
  mkdirSync(join(root, 'agents'))
  const entry = { url: `http://127.0.0.1:${port}/`, dialect: 'ag-ui' }
  writeFileSync(join(root, 'millrace.config.json'), JSON.stringify({ agents: { elsewhere: entry } }))
})
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  upstream.closeAllConnections()
  upstream.close()
  rmSync(root, { recursive: true, force: true })
})
let data: string
beforeEach(({ task }) => {
  data = join(root, task.id)
})

/** `millrace serve` in a process of its own. */
function serve(args: readonly string[] = [], options: { readonly env?: NodeJS.ProcessEnv } = {}) {
  const command = [runner, packedMain, 'serve', '--port', '0', '--data-dir', data]
  const child = spawn(process.execPath, [...command, '--agents', join(root, 'agents'), ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  })
  children.add(child)
  const exit = once(child, 'exit').then(([code, signal]) => {
    children.delete(child)
    return { code, signal }
  })
  let text = ''
  const listening = new Promise<string>((resolve, reject) => {
    const take = (chunk: unknown): void => {
      text += String(chunk)
      const address = /listening on (\S+)/.exec(text)?.[1]
      if (address !== undefined) resolve(address)
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    child.once('close', () => reject(new Error(text)))
  })
  listening.catch(() => {})
  return { child, exit, listening, said: () => text }
}

/** Starts a run and resolves once its agent has said its word. */
async function startRun(address: string, session: string): Promise<void> {
  const body = { threadId: session, runId: `run of ${session}`, messages: [{ id: '1', role: 'user', content: 'hi' }] }
  const response = await fetch(`${address}/ag-ui/elsewhere`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ ...body, state: {}, tools: [], context: [], forwardedProps: {} }),
  })
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.includes('a word')) return
  }
  throw new Error(`the run said no word: ${text}`)
}

test('SIGTERM: runs may finish, then are cancelled; all is committed, exit 0', async () => {
  const server = serve(['--grace', '3'])
  const address = await server.listening
  await startRun(address, 'quick')
  const [quick] = waiting
  await startRun(address, 'stuck')
  server.child.kill('SIGTERM')
  // It has the signal once it is no longer ready; then one of the two comes to its end by itself.
  while ((await fetch(`${address}/ready`)).ok) await new Promise((resolve) => setImmediate(resolve))
  if (quick !== undefined) finish(quick)
  expect(await server.exit).toEqual({ code: 0, signal: null })
  expect(waiting.size).toBe(0)
  const log = await sqliteLog({ folder: data, now: Date.now })
  expect((await log.read('quick', { after: 0 })).at(-1)?.event).toMatchObject({ kind: 'run.finished', outcome: 'done' })
  expect((await log.read('stuck', { after: 0 })).at(-1)?.event).toMatchObject({
    kind: 'run.finished',
    outcome: 'cancelled',
  })
  expect(await log.expired(undefined)).toEqual([])
  await log.close()
})

test('whoever reads its log lines may leave: the server goes on', async () => {
  const server = serve(['--log-level', 'info'])
  const address = await server.listening
  server.child.stdout?.destroy()
  // More lines than a pipe holds while nobody reads.
  for (let i = 0; i < 300; i++) expect((await fetch(`${address}/agents`)).status).toBe(200)
  server.child.kill('SIGTERM')
  expect(await server.exit).toEqual({ code: 0, signal: null })
})

test('an agent that lets go of a promise which fails does not take the others with it', async () => {
  const folder = join(root, 'slips')
  mkdirSync(join(folder, 'slip'), { recursive: true })
  const graph = 'export const graph = { streamEvents() {}, getGraph: () => ({ nodes: {}, edges: [] }) }'
  writeFileSync(join(folder, 'slip', 'agent.mjs'), `Promise.reject(new Error('unheard rejection'))\n${graph}`)
  const server = serve(['--agents', folder])
  const address = await server.listening
  expect(await (await fetch(`${address}/agents`)).json()).toMatchObject({ agents: [{ name: 'slip' }, {}] })
  await startRun(address, 's')
  expect(server.said()).toContain('unheard rejection')
  for (const response of waiting) finish(response)
  server.child.kill('SIGTERM')
  expect(await server.exit).toEqual({ code: 0, signal: null })
})

test('kill -9 and a start: the run it left has its end before anybody asks', async () => {
  const first = serve()
  await startRun(await first.listening, 's')
  first.child.kill('SIGKILL')
  await first.exit
  const second = serve()
  const address = await second.listening
  const events = await fetch(`${address}/sessions/s/events?run=${encodeURIComponent('run of s')}`)
  const text = await events.text() // ends with the run
  expect(text.match(/"kind":"run.finished"/g)).toHaveLength(1)
  expect(text).toContain('"code":"crashed"')
  for (const [query, sessions] of [
    ['status=failed', [{ id: 's', status: 'failed', cutOff: true }]],
    ['cutOff=true', [{ id: 's' }]],
    ['status=failed&cutOff=false', []],
  ] as const)
    expect(await (await fetch(`${address}/sessions?search=s&${query}`)).json()).toMatchObject({ sessions })
  second.child.kill('SIGTERM')
  expect((await second.exit).code).toBe(0)
})

test('a second server on the same data says so and exits with 1; the first goes on', async () => {
  const first = serve()
  const address = await first.listening
  const second = serve()
  expect((await second.exit).code).toBe(1)
  expect(second.said()).toBe(
    `millrace: cannot use the data folder ${data}: another process has it open; stop that process or use another folder\n`,
  )
  await startRun(address, 's')
  first.child.kill('SIGTERM')
  const [response] = waiting
  if (response !== undefined) finish(response)
  expect((await first.exit).code).toBe(0)
})

test('data that cannot be used is reported, exit 1, and left as it is', async () => {
  mkdirSync(data)
  const file = join(data, 'millrace.db')
  writeFileSync(file, 'no database')
  const foreign = serve()
  expect((await foreign.exit).code).toBe(1)
  expect(foreign.said()).toBe(`millrace: cannot open ${file}: it is not a Millrace log; choose another data folder\n`)
  expect(readFileSync(file, 'utf8')).toBe('no database')
  rmSync(data, { recursive: true })
  mkdirSync(data)
  chmodSync(data, 0o555)
  const readOnly = serve([], unprivileged)
  expect((await readOnly.exit).code).toBe(1)
  expect(readOnly.said()).toBe(
    `millrace: cannot use the data folder ${data}: this user may not write to it; change its permissions\n`,
  )
  expect(readdirSync(data)).toEqual([])
  chmodSync(data, 0o755)
})

test('--retain-days drops the deltas of old runs; seqs keep their numbers, what was said stays', async () => {
  const before = await sqliteLog({ folder: data, now: Date.now })
  const events = [
    { kind: 'run.started', agent: 'a', input: { messages: [] } } as const,
    said('m', 'a ', { partial: true }),
    said('m', 'word', { partial: true }),
    said('m', 'a word'),
    { kind: 'run.finished', outcome: 'done' } as const,
  ]
  const long = Date.now() - 3 * 24 * 60 * 60 * 1000
  for (const [id, at] of [['old', long] as const, ['new', Date.now()] as const]) {
    await before.restore(
      { id, user: 'local', agent: 'a' },
      events.map((event, i) => ({ seq: i + 1, at, run: 'r', event })),
    )
  }
  await before.close()
  const server = serve(['--retain-days', '2'])
  await server.listening
  server.child.kill('SIGTERM')
  expect((await server.exit).code).toBe(0)
  const log = await sqliteLog({ folder: data, now: Date.now })
  expect((await log.read('old', { after: 0 })).map(({ seq }) => seq)).toEqual([1, 4, 5])
  expect((await log.read('new', { after: 0 })).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5])
  await log.close()
})
