import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Served, serveBuilt } from '../kit/built-server.ts'
import { type CutProxy, cutProxy } from '../kit/cut-proxy.ts'
import { full } from '../kit/full.ts'
import { type Postgres, startPostgres } from '../kit/postgres.ts'
import { roundRobin } from '../kit/round-robin.ts'
import { SseClient } from '../kit/sse-client.ts'

// Whole servers on one database: what waits, what is handed over, what is cut off. One of them is an hour ahead.

const folder = mkdtempSync(join(tmpdir(), 'millrace-replica-life-'))
/** Each run notes in `begun` the server that runs it, itself or in a process of its agents; its second step is held until a file is there; a stopped one says so. */
const steps = (resumable: boolean): string => `
import { appendFileSync, existsSync } from 'node:fs'
import { AIMessage } from '@langchain/core/messages'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
export const resumable = ${resumable}
const server = process.send === undefined ? process.pid : process.ppid
const note = (what, session) => appendFileSync(${JSON.stringify(folder)} + '/' + what, session + ' ' + server + '\\n')
export const graph = new StateGraph(MessagesAnnotation)
  .addNode('first', () => ({ messages: [new AIMessage('first')] }))
  .addNode('second', async ({ messages: [{ content: session }] }, config) => {
    note('begun', session)
    while (!existsSync(${JSON.stringify(folder)} + '/go-' + session)) {
      if (config.signal?.aborted) {
        note('stopped', session)
        throw new Error('stopped')
      }
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    return { messages: [new AIMessage('second')] }
  })
  .addEdge(START, 'first').addEdge('first', 'second').addEdge('second', END)
  .compile()
`
const letGo = (session: string): void => writeFileSync(join(folder, `go-${session}`), '')
/** Sessions and process ids, in the order in which they were noted. */
function noted(what: 'begun' | 'stopped', session: string): readonly number[] {
  const file = join(folder, what)
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
  return lines.filter((line) => line.startsWith(`${session} `)).map((line) => Number(line.split(' ')[1]))
}

/** The clock of the process goes an hour ahead. */
const ahead = 'data:text/javascript,globalThis.now=Date.now;Date.now=()=>now()+3600000'
const headers = { authorization: 'Bearer of-ada-1234567890', 'content-type': 'application/json' }

let postgres: Postgres
let network: CutProxy
const running: Served[] = []
let names = 0
async function replica(url: string, more: readonly string[] = [], env: Record<string, string> = {}): Promise<Served> {
  const args = ['serve', '--port', '0', '--lease', '5', '--log-level', 'silent', '--isolate', 'off', '--grace', '60']
  const own = ['--agents', join(folder, 'agents'), '--data-dir', join(folder, `data-${names++}`), '--database', url]
  const users = ['--token', 'ada=of-ada-1234567890', '--limit', 'sessions=20']
  const served = await serveBuilt([...args, ...own, ...users, ...more], { PATH: process.env.PATH ?? '', ...env })
  running.push(served)
  // Loading an agent keeps a process busy, perhaps for longer than its leases last.
  const loaded = async (): Promise<string> => (await fetch(`${served.address}/agents`, { headers })).text()
  await expect.poll(loaded).toMatch(/"langgraph".*"langgraph"/)
  return served
}
beforeAll(async () => {
  for (const [name, text] of [
    ['steps', steps(true)],
    ['once', steps(false)],
  ] as const) {
    mkdirSync(join(folder, 'agents', name), { recursive: true })
    writeFileSync(join(folder, 'agents', name, 'agent.ts'), text)
  }
  postgres = await startPostgres()
  network = await cutProxy(Number(postgres.tcp.port))
})
afterEach(async () => {
  for (const { child, kill } of running.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) await kill()
  }
})
afterAll(async () => {
  network.close()
  await postgres.stop()
  rmSync(folder, { recursive: true })
})

const portOf = ({ address }: Served): number => Number(new URL(address).port)
const post = (at: Served, path: string, body: object = {}): Promise<Response> =>
  fetch(at.address + path, { method: 'POST', headers, body: JSON.stringify(body) })
async function start(at: Served, session: string, agent = 'steps'): Promise<Response> {
  const messages = [{ id: '1', role: 'user', content: session }]
  return post(at, `/ag-ui/${agent}`, { threadId: session, runId: 'r', messages })
}
async function begun(session: string, times = 1): Promise<number> {
  await expect.poll(() => noted('begun', session).length).toBe(times)
  return noted('begun', session).at(-1) ?? 0
}
async function rowsOf(at: Served, session: string): Promise<readonly { seq: number; event: { kind: string } }[]> {
  const log = await (await fetch(`${at.address}/sessions/${session}/log`, { headers })).text()
  const lines = log.trim().split('\n').slice(1)
  return lines.map((line) => JSON.parse(line) as { seq: number; event: { kind: string } })
}
/** The run has its one end, and no row is missing or doubled. */
async function ended(at: Served, session: string): Promise<{ readonly outcome?: string; readonly kinds: string[] }> {
  const status = async (): Promise<unknown> =>
    ((await (await fetch(`${at.address}/sessions/${session}`, { headers })).json()) as { run: string }).run
  await expect.poll(status).not.toBe('running')
  const rows = await rowsOf(at, session)
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, i) => i + 1))
  const kinds = rows.map(({ event }) => event.kind)
  expect(kinds.filter((kind) => kind === 'run.finished')).toHaveLength(1)
  expect(kinds.at(-1)).toBe('run.finished')
  return { ...(rows.at(-1)?.event as { outcome?: string }), kinds }
}
const ready = async (at: Served): Promise<number> => (await fetch(`${at.address}/ready`)).status

test('runs beyond the slots wait, another server takes them, and none is lost with the server that let them wait', async () => {
  const slots = ['--queue', '--limit', 'all-runs=1', '--limit', 'queued=3']
  const [one, two] = await Promise.all([replica(postgres.url, slots), replica(postgres.url, slots)])
  await start(one, 'q0')
  expect(await begun('q0')).toBe(one.child.pid)
  const waits = await start(one, 'q1')
  expect(waits.status).toBe(200)
  expect(await begun('q1')).toBe(two.child.pid)
  for (const session of ['q2', 'q3', 'q4']) expect((await start(one, session)).status).toBe(200)
  const refused = await start(one, 'q5')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5'])
  expect((await rowsOf(two, 'q2')).map(({ event }) => event.kind)).toEqual(['run.started', 'log'])
  expect((await post(two, '/sessions/q3/cancel')).status).toBeLessThan(300)
  expect(await ended(two, 'q3')).toMatchObject({ outcome: 'cancelled', kinds: ['run.started', 'log', 'run.finished'] })
  await one.kill()
  for (const session of ['q0', 'q1', 'q2', 'q4']) letGo(session)
  for (const session of ['q0', 'q1', 'q2', 'q4']) expect((await ended(two, session)).outcome).toBe('done')
  expect(noted('begun', 'q3')).toEqual([])
})

// The small form has agents as they ship; the crash of a graph shows the other one.
test.each(full ? ['off', 'on'] : ['on'])(
  'a rolling restart hands the runs of resumable agents over; another run gets its time; readers lose nothing (--isolate %s)',
  async (isolate) => {
    const old = await replica(postgres.url, ['--isolate', isolate])
    const next = await replica(postgres.url, ['--isolate', isolate], { NODE_OPTIONS: `--import=${ahead}` })
    const [resumable, other, late] = [`r-${isolate}`, `o-${isolate}`, `l-${isolate}`]
    await Promise.all([start(old, resumable), start(old, other, 'once')])
    expect([await begun(resumable), await begun(other)]).toEqual([old.child.pid, old.child.pid])
    const proxy = await roundRobin([old, next].map(portOf))
    const reader = new SseClient(proxy.port, `/sessions/${resumable}/events?dialect=millrace&run=r`, headers)
    const reading = (async () => {
      while (!reader.text.includes('run.finished')) await reader.read()
    })()
    const exited = once(old.child, 'exit')
    old.child.kill('SIGTERM')
    // It goes on at the other one while the first still waits for the run that cannot.
    expect(await begun(resumable, 2)).toBe(next.child.pid)
    expect(noted('stopped', resumable)).toEqual([old.child.pid])
    expect(await ready(old)).toBe(503)
    expect(await ready(next)).toBe(200)
    expect((await start(old, late)).status).toBe(503)
    letGo(other)
    expect(await exited).toEqual([0, null])
    letGo(resumable)
    expect((await ended(next, resumable)).outcome).toBe('done')
    expect((await ended(next, other)).outcome).toBe('done')
    await reading
    proxy.close()
    const whole = new SseClient(portOf(next), `/sessions/${resumable}/events?dialect=millrace&run=r`, headers)
    await whole.read()
    expect(reader.text).toBe(whole.text)
  },
)

test('a server that is cut off from the database is not ready, stops its agents, and another one goes on', async () => {
  const url = Object.assign(new URL(postgres.tcp), { port: String(network.port) }).href
  const cutOff = await replica(url)
  await start(cutOff, 'c0')
  expect(await begun('c0')).toBe(cutOff.child.pid)
  const other = await replica(postgres.url, [], { NODE_OPTIONS: `--import=${ahead}` })
  expect(await ready(cutOff)).toBe(200)
  network.cut()
  expect(await ready(cutOff)).toBe(503)
  expect(await begun('c0', 2)).toBe(other.child.pid)
  await expect.poll(() => noted('stopped', 'c0')).toEqual([cutOff.child.pid])
  letGo('c0')
  expect((await ended(other, 'c0')).outcome).toBe('done')
  const rows = await rowsOf(other, 'c0')
  network.mend()
  await expect.poll(() => ready(cutOff)).toBe(200)
  expect(await rowsOf(cutOff, 'c0')).toEqual(rows)

  // Cancelled elsewhere, a run ends before its next step, which is held here for ever.
  await start(cutOff, 'c1')
  expect(await begun('c1')).toBe(cutOff.child.pid)
  expect((await post(other, '/sessions/c1/cancel')).status).toBeLessThan(300)
  await expect.poll(() => noted('stopped', 'c1')).toEqual([cutOff.child.pid])
  expect((await ended(other, 'c1')).outcome).toBe('cancelled')

  // What a user may keep is counted over both.
  const made: number[] = []
  for (let i = 0; i < 20; i += 1) made.push((await post(i % 2 === 0 ? other : cutOff, '/sessions', {})).status)
  const { total } = (await (await fetch(`${other.address}/sessions`, { headers })).json()) as { total: number }
  expect(total).toBe(20)
  expect(made.filter((status) => status === 507).length).toBeGreaterThan(1)
})
