import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BaseEvent, EventType, HttpAgent } from '@ag-ui/client'
import { EventSchemas } from '@ag-ui/core/schemas'
import { type DialectName, dialects, type Recorded, type RunEvent, sseReader } from '@millrace/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adkApiServer } from '../kit/adk-api-server.ts'
import { oneProcess, type Served, serveBuilt } from '../kit/built-server.ts'
import { type ByteRelay, byteRelay } from '../kit/byte-relay.ts'
import { runCommand, type ServingCommand, servingCommand } from '../kit/command.ts'
import { scriptedAdkFolder } from '../kit/scripted-adk-agents.ts'

// `tap` between clients and servers that others wrote. A relay on each side of it keeps what passed there.

const folder = mkdtempSync(join(tmpdir(), 'millrace-tap-'))
const closing: (() => unknown)[] = []
let millrace: Served
beforeAll(async () => {
  millrace = await serveBuilt(['--port', '0', '--data-dir', join(folder, 'data'), ...oneProcess])
})
afterAll(async () => {
  for (const close of closing.toReversed()) await close()
  await millrace.kill()
  rmSync(folder, { recursive: true, force: true })
})

interface Line {
  /** The streams are counted in the order in which they end; a line comes when its session is stored. */
  readonly stream: number
  readonly path: string
  readonly bytes: number
  readonly events: number
  readonly errors: number
  readonly outcome?: string
  readonly places: readonly string[]
}

/** A tap with a relay before and behind it. */
async function tapped(server: string, dialect: DialectName) {
  const behind = await byteRelay(server)
  const out = join(folder, dialect)
  const tap: ServingCommand = await servingCommand([
    ...['tap', behind.url, '--dialect', dialect, '--port', '0'],
    ...['--server', millrace.address, '--out', out, '--json'],
  ])
  const before = await byteRelay(tap.address)
  closing.push(
    () => behind.close(),
    () => before.close(),
  )
  return {
    url: before.url,
    /** Stops it; resolves with what it told of each run, and the exit code. */
    async stop() {
      const { code, err, out: said } = await tap.stop()
      expect(bytesOf(before)).toEqual(bytesOf(behind))
      const [, ...lines] = said
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Line)
      return { code, err, lines: lines.toSorted((a, b) => a.stream - b.stream), bodies: runsOf(behind) }
    },
  }
}

const bytesOf = ({ bodies }: ByteRelay): readonly (readonly [string, string])[] =>
  bodies.map(({ request, chunks }) => [request, Buffer.concat(chunks).toString('base64')])

/** The bodies of runs, which are those that are taped. */
const runsOf = ({ bodies }: ByteRelay): readonly string[] =>
  bodies.flatMap(({ request, chunks }) =>
    /^POST \/(run|run_sse|agent)$/.test(request) ? [Buffer.concat(chunks).toString('utf8')] : [],
  )

/** Events without what a tap takes from the request: the agent and what the user said. */
const wireOf = (events: readonly RunEvent[]): readonly RunEvent[] =>
  events.map((event) =>
    event.kind === 'run.started' ? { ...event, agent: '', input: { ...event.input, messages: [] } } : event,
  )

const read = (dialect: DialectName, frames: readonly { readonly data: string }[]): readonly RunEvent[] => {
  const decoder = dialects[dialect].decoder({ run: 'run-1' })
  const drafts = [...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end('closed')]
  return wireOf(drafts.map(({ event }) => event))
}

function kept({ places }: Line): readonly RunEvent[] {
  const [, ...rows] = readFileSync(places[0] ?? '', 'utf8')
    .trimEnd()
    .split('\n')
  return rows.map((row) => (JSON.parse(row) as Recorded).event)
}

const onPage = async ({ places }: Line, view: string): Promise<string> => {
  const id = places[1]?.replace(/^.*\/s\//, '') ?? ''
  expect(places[1]).toBe(`${millrace.address}/s/${id}`)
  expect((await fetch(`${millrace.address}/s/${id}`, { headers: { accept: 'text/html' } })).status).toBe(200)
  return (await fetch(`${millrace.address}/sessions/${id}/${view}`)).text()
}

test('ADK’s own API server: the client gets its bytes, and every run is recorded as the stream says', async () => {
  const adk = await adkApiServer(scriptedAdkFolder(folder))
  closing.push(() => adk.stop())
  const tap = await tapped(adk.url, 'adk')
  const post = (path: string, body: object): Promise<Response> =>
    fetch(tap.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const run = async (path: string, appName: string, text: string): Promise<Response> => {
    const sessionId = `${appName} ${text}`
    const made = await post(`/apps/${appName}/users/u/sessions/${encodeURIComponent(sessionId)}`, {})
    expect(((await made.json()) as { id: string }).id).toBe(sessionId)
    const newMessage = { role: 'user', parts: [{ text }] }
    return post(path, { appName, userId: 'u', sessionId, newMessage, streaming: true })
  }
  const late = await run('/run_sse', 'desk', 'Wo ist es – spät?')
  expect([late.status, late.headers.get('x-powered-by'), late.headers.get('content-type')]).toEqual([
    200,
    'Express',
    'text/event-stream',
  ])
  expect(await late.text()).toContain('Order A7 is late.')
  await (await run('/run_sse', 'pair', 'How is it?')).text()
  expect(await (await run('/run_sse', 'desk', 'fail')).text()).toContain('the model is down')
  // All events of a run in one JSON array.
  expect(await (await run('/run', 'pair', 'At once?')).json()).toHaveLength(3)
  const unknown = await post('/run_sse', { appName: 'desk', userId: 'u', sessionId: 'none', newMessage: {} })
  expect([unknown.status, await unknown.json()]).toEqual([404, { error: 'Session not found: none' }])

  const { code, err, lines, bodies } = await tap.stop()
  expect([code, err]).toEqual([0, ''])
  expect(lines.map(({ path, outcome, errors }) => [path, outcome, errors])).toEqual([
    ['/run_sse', 'done', 0],
    ['/run_sse', 'done', 0],
    ['/run_sse', 'failed', 0],
    ['/run', 'done', 0],
  ])
  const whole = JSON.parse(bodies[3] ?? '[]') as readonly unknown[]
  const wires = [
    ...bodies.slice(0, 3).map((body) => sseReader().feed(body)),
    whole.map((event) => ({ data: JSON.stringify(event) })),
  ].map((frames) => read('adk', frames))
  lines.forEach((line, i) => {
    expect(line.bytes).toBe(Buffer.byteLength(bodies[i] ?? ''))
    expect(wireOf(kept(line))).toEqual(wires[i])
  })
  // The stream names neither the agent nor what the user said.
  expect(lines.map((line) => kept(line)[0])).toMatchObject([
    { agent: 'desk', input: { messages: [{ content: { parts: [{ text: 'Wo ist es – spät?' }] } }] } },
    { agent: 'pair' },
    { agent: 'desk' },
    { agent: 'pair' },
  ])

  const [first, , failed, atOnce] = lines
  if (first === undefined || failed === undefined || atOnce === undefined) throw new Error('a run is missing')
  expect(await onPage(first, 'views/transcript')).toContain('Order A7 is late.')
  expect(JSON.parse(await onPage(first, 'state'))).toMatchObject({ state: { order: 'A7' } })
  expect(await onPage(failed, 'views/transcript')).toContain('the model is down')
  expect(await onPage(atOnce, 'views/transcript')).toContain('Cold and warm.')
  const { sessions } = (await (await fetch(`${millrace.address}/sessions`)).json()) as {
    sessions: readonly { readonly title: string; readonly agent: string; readonly status: string }[]
  }
  expect(sessions.map(({ title, agent, status }) => [title, agent, status])).toEqual(
    expect.arrayContaining([
      ['Wo ist es – spät?', 'desk', 'done'],
      ['fail', 'desk', 'failed'],
      ['At once?', 'pair', 'done'],
    ]),
  )
  // The files are what the other commands read.
  const checked = await runCommand(['check', ...lines.map(({ places }) => places[0] ?? ''), '--json'])
  expect([checked.code, (JSON.parse(checked.out) as Line[]).map(({ errors }) => errors)]).toEqual([0, [0, 0, 0, 0]])
})

/** A run of a small AG-UI server: a call with its result, state, and a text; `broken` never ends its message. */
function runOf(threadId: string, runId: string, broken: boolean): readonly BaseEvent[] {
  const call = { toolCallId: 'c1' }
  const events: readonly object[] = [
    { type: EventType.RUN_STARTED, threadId, runId },
    { type: EventType.STATE_SNAPSHOT, snapshot: { seats: 2 } },
    { type: EventType.TOOL_CALL_START, ...call, toolCallName: 'seats', parentMessageId: 'm0' },
    { type: EventType.TOOL_CALL_ARGS, ...call, delta: '{"row":' },
    { type: EventType.TOOL_CALL_ARGS, ...call, delta: '7}' },
    { type: EventType.TOOL_CALL_END, ...call },
    { type: EventType.TOOL_CALL_RESULT, ...call, messageId: 'r1', content: '{"free":2}' },
    { type: EventType.STATE_DELTA, delta: [{ op: 'replace', path: '/seats', value: 1 }] },
    { type: EventType.TEXT_MESSAGE_START, messageId: 'm1', role: 'assistant' },
    { type: EventType.TEXT_MESSAGE_CONTENT, messageId: 'm1', delta: 'Zwei Plätze ' },
    { type: EventType.TEXT_MESSAGE_CONTENT, messageId: 'm1', delta: 'sind frei.' },
    ...(broken
      ? []
      : [
          { type: EventType.TEXT_MESSAGE_END, messageId: 'm1' },
          { type: EventType.RUN_FINISHED, threadId, runId },
        ]),
  ]
  return events as readonly BaseEvent[]
}

test('the official AG-UI client before an AG-UI server; a fault of the server is found', async () => {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const { threadId, runId } = JSON.parse(body) as { threadId: string; runId: string }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of runOf(threadId, runId, threadId === 'broken'))
      response.write(`data: ${JSON.stringify(EventSchemas.parse(event))}\n\n`)
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(() => server.close())
  const tap = await tapped(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'ag-ui')
  const agent = new HttpAgent({ url: `${tap.url}/agent`, threadId: 'seats' })
  agent.addMessage({ id: 'u1', role: 'user', content: 'Is there a seat?' })
  await agent.runAgent()
  expect(agent.state).toEqual({ seats: 1 })
  expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'Zwei Plätze sind frei.' })
  const cut = new HttpAgent({ url: `${tap.url}/agent`, threadId: 'broken' })
  cut.addMessage({ id: 'u1', role: 'user', content: 'And now?' })
  await cut.runAgent().catch(() => undefined)

  const { code, lines, bodies } = await tap.stop()
  expect([code, lines.map(({ errors }) => errors > 0)]).toEqual([1, [false, true]])
  lines.forEach((line, i) => {
    const frames = sseReader().feed(bodies[i] ?? '')
    expect(frames).toHaveLength(i === 0 ? 13 : 11)
    expect(wireOf(kept(line))).toEqual(read('ag-ui', frames))
  })
  const [good, bad] = lines
  if (good === undefined || bad === undefined) throw new Error('a run is missing')
  expect(await onPage(good, 'views/transcript')).toContain('Zwei Plätze sind frei.')
  expect(await onPage(good, 'views/transcript')).toContain('Is there a seat?')
  expect(await onPage(bad, 'views/problems')).toContain('no-end')
  // What the tap found is what the linter finds in the bytes.
  writeFileSync(join(folder, 'broken.sse'), bodies[1] ?? '')
  const checked = await runCommand(['check', join(folder, 'broken.sse'), '--json'])
  expect((JSON.parse(checked.out) as Line).errors).toBe(bad.errors)
})
