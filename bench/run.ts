import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Recorded } from '@millrace/core'
import { sqliteLog } from '@millrace/server'
import { built, serveBuilt } from '../test/kit/built-server.ts'
import { AdkClient, type Timing, tokenOf } from './kit/adk-client.ts'
import { type CpuUse, cpuUse, perRun, shown } from './kit/cpu.ts'
import { median, type Row } from './kit/row.ts'
import { session } from './kit/session.ts'

const agents = fileURLToPath(new URL('run-agents', import.meta.url))
const peer = fileURLToPath(new URL('run-peer.mjs', import.meta.url))
const app = 'instant'
const atOnce = 50
/**
 * Long enough that there are 50 at once for nearly all of a round. A round of 200 begins and ends with fewer of them for
 * a third of its time, in which several processes wait for each other and the peer's one thread does not.
 */
const perRound = 1500
/** 41 events of ADK have more bytes than this. */
const wholeAnswer = 12_000
const rounds = 7
/**
 * Rounds that warm up, for the peer as for us. Until about 5,000 runs much of the server's CPU goes to compiling: of its
 * functions 96 were compiled in the first 200 runs, and 4 to 8 in each 200 after 4,000 (`--trace-opt`).
 */
const warming = 4
/** As `npm start` and the image start the server; the peer has it, too. */
const nodeFlags = ['--max-semi-space-size=64']
/** The server limits the runs that one user has at once and starts in a minute, so there are many users. */
const users = Array.from({ length: 400 }, (_, i) => `u${i}`)
const server = (isolate: Isolation) => [
  'serve',
  '--port',
  '0',
  '--agents',
  agents,
  '--isolate',
  isolate,
  ...users.flatMap((user) => ['--token', `${user}=${tokenOf(user)}`]),
]
/** Whether agents run in processes of their own. */
type Isolation = 'on' | 'off'
const sizes = [10, 10_000, 100_000] as const
const copies = 3
const turns = 5

/** What a run costs on the built server: the rate of short runs beside ADK alone, and the start of a turn on a long session. */
export async function bench(): Promise<Row[]> {
  await built()
  const folder = await mkdtemp(join(tmpdir(), 'millrace-run-'))
  try {
    // Moved, because a closed connection to SQLite is let go of only when its memory is, and then removes the WAL of its
    // path: that of the server, if it were the same.
    const data = join(folder, 'data')
    await mkdir(join(folder, 'made'))
    await longSessions(join(folder, 'made'))
    await rename(join(folder, 'made'), data)
    const theirs = await servePeer()
    const rows: Row[] = []
    try {
      for (const isolate of ['on', 'off'] as const) {
        const ours = await serveBuilt([...server(isolate), '--data-dir', data], {}, nodeFlags)
        try {
          rows.push(await rate(ours, theirs, isolate))
          if (isolate === 'off') rows.push(...(await firstFrame(ours.address)))
        } finally {
          await ours.kill()
        }
      }
      return rows
    } finally {
      theirs.child.kill('SIGKILL')
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

interface Served {
  readonly address: string
  readonly child: ChildProcess
}

async function servePeer(): Promise<Served> {
  const child = spawn(process.execPath, [...nodeFlags, peer], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(child.stdout, 'data')
  return { address: String(line).trim().replace('listening on ', ''), child }
}

async function rate(ours: Served, theirs: Served, isolate: Isolation): Promise<Row> {
  const [mine, bare] = [new AdkClient(ours.address, app), new AdkClient(theirs.address, app)]
  let round = 0
  /** CPU of a run, by round and by who used it. */
  const used: { readonly ours: CpuUse[]; readonly bare: CpuUse[] } = { ours: [], bare: [] }
  const measured = async (client: AdkClient, { child }: Served, uses: CpuUse[]): Promise<number> => {
    round += 1
    const runs = Array.from({ length: perRound }, (_, i) => ({
      user: users[i % users.length] ?? '',
      session: `${isolate}${round}-${i}`,
    }))
    for (const { user, session } of runs) await client.create(user, session)
    const before = cpuUse(child.pid)
    const begun = performance.now()
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        for (let next = runs.pop(); next !== undefined; next = runs.pop()) {
          const { bytes } = await client.run(next.user, next.session)
          if (bytes < wholeAnswer) throw new Error(`a run sent ${bytes} bytes: it did not send its whole answer`)
        }
      }),
    )
    const took = performance.now() - begun
    uses.push(perRun(before, cpuUse(child.pid), perRound))
    return (perRound * 1000) / took
  }
  const compared = await pairs(
    () => measured(mine, ours, used.ours),
    () => measured(bare, theirs, used.bare),
  )
  mine.close()
  bare.close()
  return {
    what: `/run_sse with a model that answers at once, ${atOnce} at once, a new session for each, --isolate ${isolate}: runs a second (ms of CPU for each: ${shown(used.ours.slice(-rounds))}; bare: ${shown(used.bare.slice(-rounds))})`,
    ours: compared.ours,
    peer: 'node:http, ADK Runner, sessions in memory',
    peerValue: compared.peer,
    limit: '1',
    ratio: compared.ratio,
    bar: '≥ 0.7',
    ok: compared.ratio >= 0.7,
  }
}

/** The two take turns; the ratio is the median of the ratios of neighbours. */
async function pairs(ours: () => Promise<number>, theirs: () => Promise<number>) {
  const measured: [number, number][] = []
  for (let i = -warming; i < rounds; i++) {
    const early = i % 2 === 0 ? undefined : await theirs()
    const mine = await ours()
    const pair: [number, number] = [mine, early ?? (await theirs())]
    if (i >= 0) measured.push(pair)
  }
  return {
    ours: median(measured.map(([mine]) => mine)),
    peer: median(measured.map(([, bare]) => bare)),
    ratio: median(measured.map(([mine, bare]) => mine / bare)),
  }
}

/** Whose the long sessions are. */
const owner = 'u0'
const nameOf = (events: number, copy: number): string => `long-${events}-${copy}`

/** Several sessions of each size, because each turn makes its session longer and leaves it in the caches. */
async function longSessions(folder: string): Promise<void> {
  const log = await sqliteLog({ folder, now: Date.now })
  for (const events of sizes) {
    const rows = session(events).map(byAgent)
    const last = rows.pop()
    // The last turn may be cut short: it ends here, so that the next run finds nothing open.
    if (last !== undefined) rows.push({ ...last, event: { kind: 'run.finished', outcome: 'done' } })
    for (let copy = 0; copy < copies; copy++)
      await log.restore({ id: nameOf(events, copy), user: owner, agent: app }, rows)
  }
  await log.close()
}

/** The row as if the agent had said it: ADK walks through all events of a session whose authors it does not know. */
function byAgent(row: Recorded): Recorded {
  const { event } = row
  return event.kind === 'agent' ? { ...row, event: { ...event, event: { ...event.event, author: app } } } : row
}

/** The first frame and the first event of a turn on sessions of growing length, the first turn since the server started and later ones. */
async function firstFrame(address: string): Promise<Row[]> {
  const client = new AdkClient(address, app)
  const cold: Timing[][] = sizes.map(() => [])
  const warm: Timing[][] = sizes.map(() => [])
  for (let copy = 0; copy < copies; copy++) {
    for (let turn = 0; turn < turns; turn++) {
      for (const [i, events] of sizes.entries()) {
        const timing = await client.run(owner, nameOf(events, copy))
        ;(turn === 0 ? cold : warm)[i]?.push(timing)
      }
    }
  }
  client.close()
  return [...row('the first turn since the start', cold), ...row('later turns', warm)]
}

function row(which: string, timings: readonly (readonly Timing[])[]): Row[] {
  return (['start', 'first'] as const).flatMap((moment) => {
    const [base = Number.NaN, ...others] = timings.map((some) => median(some.map((timing) => timing[moment])))
    const what = moment === 'start' ? 'run.started' : 'first event'
    return others.map((ours, i) => ({
      what: `${what} of a turn on ${(sizes[i + 1] ?? 0).toLocaleString('en')} events, ${which}: ms`,
      ours,
      peer: `on ${sizes[0]} events`,
      peerValue: base,
      limit: moment === 'start' ? '1' : 'ADK, which makes the model request from the whole conversation',
      ratio: ours / base,
      bar: '≤ 1.5',
      ok: ours / base <= 1.5,
    }))
  })
}
