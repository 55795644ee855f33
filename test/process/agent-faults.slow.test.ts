import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Recorded } from '@millrace/core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { agentWithTool, askingGraph, authorFolder, goodAgent } from '../kit/author-folder.ts'
import { built, type Served, serveBuilt } from '../kit/built-server.ts'
import { isAlive } from '../kit/is-alive.ts'
import { type ListedAgent, loadedAgents } from '../kit/loaded-agents.ts'

/** Agents of an author's folder on the built server: what is wrong with one of them harms no other. */
const root = mkdtempSync(join(tmpdir(), 'millrace-faults-'))
const pause = 'await new Promise((resolve) => setTimeout(resolve, 600_000))'
const faults = {
  loops: agentWithTool('for (;;) {}'),
  exits: agentWithTool('process.exit(1)'),
  throws: agentWithTool(`setTimeout(() => { throw new Error('boom') }, 1); ${pause}`),
  // It grows in steps that each leave the thread free: collecting garbage at the limit takes long on a busy machine.
  heap: agentWithTool(`
    const held = []
    while (held.length < 250_000) {
      held.push(...Array.from({ length: 100 }, () => new Array(1000).fill(1.5)))
      await new Promise(setImmediate)
    }`),
  buffers: agentWithTool(`
    const held = []
    while (held.length < 32) {
      held.push(Buffer.alloc(2 ** 26, 1))
      await new Promise(setImmediate)
    }
    ${pause}`),
}
const sentences: Readonly<Record<keyof typeof faults, RegExp>> = {
  loops: /^the code of the agent loops blocked its thread for 10 s and was stopped \(--agent-silence\)$/,
  exits: /^the code of the agent exits ended its process \(exit code 1\)$/,
  throws: /^an exception in the code of the agent throws was not caught, and its process was stopped: boom$/,
  heap: /^the process of the agent heap was aborted, most likely because its code needed more than 256 MB of memory \(--agent-memory\)$/,
  buffers:
    /^the process of the agent buffers used \d+ MB of memory and was stopped: the limit is 768 MB \(--agent-memory\)$/,
}

/** Writes its own process id, starts a program that never ends, and then does what it is told. */
const starts = (file: string, then: string): string => `
    const { spawn } = await import('node:child_process')
    const { writeFileSync } = await import('node:fs')
    const program = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
    writeFileSync(${JSON.stringify(file)}, process.pid + ' ' + program.pid + '\\n')
    ${then}`

let server: Served
/** What the server has printed. */
let said = ''
async function serve(...more: readonly string[]): Promise<void> {
  // V8 writes a page to standard error when the heap of an agent is full; the server logs to standard output.
  server = await serveBuilt([...args, ...more], { LOG_LEVEL: 'error' }, [], 'ignore')
  server.child.stdout?.on('data', (text) => {
    said += String(text)
  })
}
const args = [
  'serve',
  '--port',
  '0',
  '--data-dir',
  join(root, 'data'),
  '--agents',
  join(root, 'agents'),
  '--agent-memory',
  '256',
  '--agent-silence',
  '10',
]
/** The agents of the tests that start the server again: each agent of a folder is a process that imports ADK. */
const again = {
  asks: askingGraph,
  pauses: agentWithTool(pause),
  loops: agentWithTool(starts(join(root, 'loops'), 'for (;;) {}')),
  waits: agentWithTool(starts(join(root, 'waits'), pause)),
}
beforeAll(async () => {
  await built()
  authorFolder(join(root, 'again'), again)
  authorFolder(join(root, 'agents'), {
    good: goodAgent,
    asks: askingGraph,
    sends: agentWithTool(
      `for (const value of [null, 7, ['x'], ['1'], { kind: 'end', call: 1 }, ['{"kind":"pong"}'], ['{"kind":"fault"}']]) process.send(value)`,
    ),
    early: 'process.exit(3)',
    ...faults,
  })
  await serve()
})
afterAll(async () => {
  await server.kill()
  rmSync(root, { recursive: true, force: true })
})

const post = (path: string, body: object): Promise<Response> =>
  fetch(`${server.address}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** One turn over ADK's surface, to the end of its stream; the session's rows then. */
async function turn(agent: string, session: string): Promise<readonly Recorded[]> {
  await post(`/apps/${agent}/users/user/sessions/${session}`, {})
  const newMessage = { role: 'user', parts: [{ text: 'hi' }] }
  const stream = await post('/run_sse', {
    appName: agent,
    userId: 'user',
    sessionId: session,
    newMessage,
    streaming: true,
  })
  await stream.text()
  return rowsOf(session)
}

async function rowsOf(session: string): Promise<readonly Recorded[]> {
  const text = await (await fetch(`${server.address}/sessions/${session}/log`)).text()
  return text
    .split('\n')
    .filter((line) => line.startsWith('{"seq"'))
    .map((line) => JSON.parse(line) as Recorded)
}

const endsOf = (rows: readonly Recorded[]) =>
  rows.flatMap(({ event }) => (event.kind === 'run.finished' ? [event] : []))

/** Asks for the server's health until `until` settles. Every answer must be 200; those while the agent looped are counted. */
async function healthUntil(until: Promise<unknown>): Promise<number> {
  let isOver = false
  void until.finally(() => {
    isOver = true
  })
  let whileLooping = 0
  while (!isOver) {
    const hasCalled = JSON.stringify(await rowsOf('with-loops')).includes('"functionCall"')
    expect((await fetch(`${server.address}/health`)).status).toBe(200)
    if (hasCalled && endsOf(await rowsOf('with-loops')).length === 0) whileLooping += 1
    await setTimeout(100)
  }
  return whileLooping
}

test('five hostile agents beside twenty good runs: the good ones finish, and every run has exactly one end', async () => {
  const bad = Object.keys(faults).map(async (name) => ({ name, rows: await turn(name, `with-${name}`) }))
  const good = Array.from({ length: 20 }, (_, i) => turn('good', `good-${i}`))
  const all = Promise.all([Promise.all(bad), Promise.all(good)])
  expect(await healthUntil(all)).toBeGreaterThan(0)
  const [failed, finished] = await all
  for (const rows of finished) {
    expect(endsOf(rows)).toEqual([expect.objectContaining({ outcome: 'done' })])
    expect(JSON.stringify(rows)).toContain('word 1. word 2.')
  }
  for (const { name, rows } of failed) {
    const [end, ...more] = endsOf(rows)
    expect(more).toEqual([])
    expect(end, name).toMatchObject({ outcome: 'failed', error: { code: 'agent-error' } })
    expect(end?.error?.message).toMatch(sentences[name as keyof typeof faults])
    // The log names the call that did it.
    expect(JSON.stringify(rows), name).toContain('"functionCall"')
    // The server's own log comes over a pipe, and so may be later than its answers.
    const line = new RegExp(`"agent":"${name}".*"msg":"[^"]* the agent ${name} `)
    await vi.waitFor(() => expect(said).toMatch(line), waiting)
  }
})

test('an agent whose process ended runs again with the next message', async () => {
  const before = endsOf(await rowsOf('with-exits')).length
  const ends = endsOf(await turn('exits', 'with-exits'))
  expect([before, ends.length]).toEqual([1, 2])
  expect(ends[1]?.error?.message).toMatch(sentences.exits)
})

test('what the code of an agent sends over the channel of its process harms nothing', async () => {
  expect(endsOf(await turn('sends', 'sends'))).toEqual([expect.objectContaining({ outcome: 'done' })])
})

test('the listing says that agents are isolated and loaded, and why one is not', async () => {
  const agents = await listed()
  expect(agents.get('good')).toMatchObject({ engine: 'adk', isolated: true, loaded: true })
  expect(agents.get('early')).toMatchObject({
    engine: 'broken',
    error: 'early/agent.ts: the code of the agent early ended its process (exit code 3)',
  })
  expect(endsOf(await turn('early', 'early'))[0]?.error?.message).toBe(agents.get('early')?.error)
})

test('a graph asks in its process, the server is killed, and the answer arrives in the next process', async () => {
  await runToEnd({ messages: [{ id: 'm', role: 'user', content: { parts: [{ text: 'hi' }] } }] })
  const question = (await rowsOf('asked')).flatMap(({ event }) => (event.kind === 'interrupt' ? [event.id] : []))
  await server.kill()
  // What loops here must be ended by the kill alone, however long the test takes to look.
  await serve('--agents', join(root, 'again'), '--agent-silence', '600')
  await runToEnd({ messages: [], resume: [{ interrupt: question[0], status: 'resolved', payload: 'yes' }] })
  const rows = await rowsOf('asked')
  expect(endsOf(rows).map(({ outcome }) => outcome)).toEqual(['interrupted', 'done'])
  expect(JSON.stringify(rows)).toContain('you said yes')
})

test('a run that a person cancels ends, and its process takes the next one', async () => {
  await start('pauses', 'cancelled', 'hi')
  await vi.waitFor(async () => expect(JSON.stringify(await rowsOf('cancelled'))).toContain('functionCall'), waiting)
  expect(await (await post('/sessions/cancelled/cancel', {})).json()).toEqual({ cancelled: true })
  await vi.waitFor(async () => expect(endsOf(await rowsOf('cancelled'))).toHaveLength(1), waiting)
  expect(endsOf(await rowsOf('cancelled'))[0]?.outcome).toBe('cancelled')
  await start('pauses', 'next', 'hi')
  await vi.waitFor(async () => expect(JSON.stringify(await rowsOf('next'))).toContain('functionCall'), waiting)
})

test.each(['loops', 'waits'])(
  'when the server is killed, an agent that %s and what it started end, too',
  async (name) => {
    if (name === 'waits') await serve('--agents', join(root, 'again'))
    await start(name, `killed-${name}`, 'hi')
    const pids = await vi.waitFor(() => {
      const [, ...found] = /^(\d+) (\d+)\n$/.exec(readFileSync(join(root, name), 'utf8')) ?? []
      if (found.length === 0) throw new Error('the process ids are not written yet')
      return found.map(Number)
    }, waiting)
    expect(pids.map(isAlive)).toEqual([true, true])
    await server.kill()
    await vi.waitFor(() => expect(pids.map(isAlive)).toEqual([false, false]), waiting)
  },
)

test('a process without runs ends after a time, and the next run has the spare one, with the agent’s variables', async () => {
  const tells = agentWithTool('return { pid: process.pid, city: process.env.CITY }')
  await serve('--agent-idle', '0.02', '--agents', authorFolder(join(root, 'idle'), { tells }))
  writeFileSync(join(root, 'idle', 'tells', '.env'), 'CITY=Wien')
  const first = pidIn(await turn('tells', 'told'))
  await vi.waitFor(() => expect(isAlive(first)).toBe(false), waiting)
  const spare = await vi.waitFor(() => {
    const [one, ...more] = startedBy(server.child.pid)
    if (one === undefined || more.length > 0) throw new Error('the spare process has not started')
    return one
  }, waiting)
  expect((await listed()).get('tells')).toMatchObject({ engine: 'adk', isolated: true, loaded: false })
  const rows = await turn('tells', 'told')
  expect(endsOf(rows).map(({ outcome }) => outcome)).toEqual(['done', 'done'])
  expect(pidIn(rows)).toBe(spare)
  expect(JSON.stringify(rows).match(/"city":"Wien"/g)?.length).toBe(2)
})

/** The processes that a process has started, as Linux lists them. */
const startedBy = (pid = 0): readonly number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number)
    .filter(isAlive)

/** The last process id that a tool told. */
const pidIn = (rows: readonly Recorded[]): number =>
  Number([...JSON.stringify(rows).matchAll(/"pid":(\d+)/g)].at(-1)?.[1])

async function listed(): Promise<ReadonlyMap<string, ListedAgent>> {
  return new Map((await loadedAgents(server.address)).map((agent) => [agent.name, agent]))
}

/** So long that only what hangs reaches it. */
const waiting = { timeout: 600_000, interval: 100 }

async function start(agent: string, session: string, text: string): Promise<void> {
  const messages = [{ id: 'm', role: 'user', content: { parts: [{ text }] } }]
  expect((await post(`/sessions/${session}/runs`, { agent, input: { messages } })).status).toBe(201)
}

/** Starts a run of the graph and follows it to its end. */
async function runToEnd(input: object): Promise<void> {
  const answer = await post('/sessions/asked/runs', { agent: 'asks', input })
  const { run } = (await answer.json()) as { run: string }
  await (await fetch(`${server.address}/sessions/asked/events?dialect=millrace&run=${run}`)).text()
}
