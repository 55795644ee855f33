import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { oneProcess, type Served, serveBuilt } from '../kit/built-server.ts'
import { type CutProxy, cutProxy } from '../kit/cut-proxy.ts'
import { full } from '../kit/full.ts'
import { type Postgres, startPostgres } from '../kit/postgres.ts'
import { roundRobin } from '../kit/round-robin.ts'
import { SseClient } from '../kit/sse-client.ts'

const [runs, readersEach] = full ? [60, 5] : [9, 2]
const dialects = ['millrace', 'adk', 'ag-ui', 'studio', 'plan'] as const
/** Seconds. */
const lease = 2

const folder = mkdtempSync(join(tmpdir(), 'millrace-replicas-'))
let postgres: Postgres
let network: CutProxy
let replicas: readonly Served[] = []
beforeAll(async () => {
  postgres = await startPostgres()
  network = await cutProxy(Number(postgres.tcp.port))
  const behind = Object.assign(new URL(postgres.tcp), { port: String(network.port) }).href
  replicas = await Promise.all([postgres.url, postgres.url, postgres.url, behind].map(replica))
})
afterAll(async () => {
  for (const { child } of replicas) child.kill('SIGCONT')
  await Promise.all(replicas.map((one) => (one.child.exitCode === null ? one.kill() : undefined)))
  network.close()
  await postgres.stop()
  rmSync(folder, { recursive: true })
})

function replica(url: string, which: number): Promise<Served> {
  return serveBuilt(['serve', '--port', '0', '--lease', `${lease}`, '--log-level', 'silent', ...oneProcess], {
    DATABASE_URL: url,
    DATA_DIR: join(folder, `${which}`),
    MILLRACE_OFFLINE_TOKENS_PER_SECOND: '25',
    PATH: process.env.PATH ?? '',
  })
}
const portOf = ({ address }: Served): number => Number(new URL(address).port)

interface Session {
  readonly run: string
  readonly status: string
}
async function start(address: string, session: string): Promise<void> {
  const body = { threadId: session, runId: 'r', messages: [{ id: '1', role: 'user', content: 'Hello, who are you?' }] }
  const ask = (): Promise<Response> =>
    fetch(`${address}/ag-ui/assistant`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  let answer = await ask()
  // On a busy machine 60 requests at once may take longer to arrive than a server waits for one. A client asks again.
  while (answer.status === 408 || answer.status === 503) answer = await ask()
  // A run that did not start would be waited for without end.
  expect(answer.status, answer.ok ? session : `${session}: ${await answer.text()}`).toBe(200)
  await answer.body?.cancel() // the run goes on
}

/** Reads a run to its end, leaving now and then, whatever happens to the servers. */
async function follow(port: number, session: string, dialect: string, leaveAfter: number): Promise<string> {
  const client = new SseClient(port, `/sessions/${session}/events?dialect=${dialect}&run=r`)
  for (let turn = 0; ; turn++) {
    const limit = turn < 3 ? leaveAfter * (turn + 1) : Number.POSITIVE_INFINITY
    if (await client.read((received) => received > limit)) {
      // A server that is closing, or has lost its database, also ends a stream: only the end of the run counts.
      const state = await sessionAt(port, session)
      if (state !== undefined && state.run !== 'running') return client.text
    }
  }
}

async function sessionAt(port: number, session: string): Promise<Session | undefined> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/sessions/${session}`)
    return answer.ok ? ((await answer.json()) as Session) : undefined
  } catch {
    return undefined
  }
}

test(`four replicas, ${runs} runs, ${runs * readersEach} readers: one replica killed, one asleep, one cut off, the database restarted`, async () => {
  const proxy = await roundRobin(replicas.map(portOf))
  const [dead, asleep, alive, cutOff] = replicas
  if (dead === undefined || asleep === undefined || alive === undefined || cutOff === undefined)
    throw new Error('four replicas')
  const sessions = Array.from({ length: runs }, (_, i) => `s${i}`)
  await Promise.all(sessions.map((session, i) => start(replicas[i % 4]?.address ?? '', session)))
  const readers = sessions.flatMap((session, i) =>
    Array.from({ length: readersEach }, (_, j) => {
      const dialect = dialects[(i + j) % dialects.length] ?? 'millrace'
      return follow(proxy.port, session, dialect, 300 + 200 * j).then((text) => ({ session, dialect, text }))
    }),
  )
  await dead.kill()
  asleep.child.kill('SIGSTOP')
  network.cut()
  await postgres.restart()
  // Every run that the dead, the sleeping and the lonely one had gets its end from the one that is left.
  await Promise.all(sessions.map((session) => ended(portOf(alive), session)))
  asleep.child.kill('SIGCONT')
  network.mend()
  const heard = await Promise.all(readers)
  proxy.close()
  for (const { session, dialect, text } of heard) {
    const whole = new SseClient(portOf(alive), `/sessions/${session}/events?dialect=${dialect}&run=r`)
    await whole.read()
    expect(text, `${session} in ${dialect}`).toBe(whole.text)
  }
  for (const session of sessions) {
    const log = await (await fetch(`${alive.address}/sessions/${session}/log`)).text()
    const rows = log
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => JSON.parse(line) as { seq: number; event: { kind: string } })
    expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, i) => i + 1))
    expect(rows.filter(({ event }) => event.kind === 'run.finished')).toHaveLength(1)
    expect(rows.at(-1)?.event.kind).toBe('run.finished')
  }
  // Those that slept or were cut off wrote nothing more, and serve again once they have their database back.
  for (const back of [asleep, cutOff])
    await expect.poll(async () => (await sessionAt(portOf(back), 's0'))?.run).toMatch(/done|failed/)
})

/** The followers of a run hear its end; the stream of the log is what says that it is there. */
async function ended(port: number, session: string): Promise<void> {
  for (;;) {
    const client = new SseClient(port, `/sessions/${session}/events?dialect=millrace&run=r`)
    if ((await client.read()) && client.text.includes('run.finished')) return
  }
}
