import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  adk,
  type Dialect,
  fold,
  itemsOf,
  millrace,
  printFrame,
  type Recorded,
  transcriptView,
  withSeq,
} from '@millrace/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildChild, has, message } from '../kit/built-child.ts'
import { openSystem, sessions } from '../kit/crash-system.ts'
import { full } from '../kit/full.ts'
import { heard, StreamText } from '../kit/stream-text.ts'

const rounds = full ? 25 : 6
const dialects = [adk, millrace]
const folder = mkdtempSync(join(tmpdir(), 'millrace-crash-'))
let spawn: (...args: string[]) => ChildProcess
beforeAll(async () => {
  spawn = await buildChild('crash')
})
afterAll(() => rmSync(folder, { recursive: true }))

interface Ready {
  readonly port: number
  readonly recovered: { readonly failed: number; readonly resumed: number }
}

interface Client {
  readonly session: string
  readonly dialect: Dialect
  readonly received: StreamText
}

/** Starts the child, listens to all its sessions in every dialect, lets it run, kills it. */
async function runAndKill(
  round: number,
  kill: (ready: Promise<Ready>, clients: readonly Client[]) => Promise<unknown>,
) {
  const child = spawn(folder, String(round))
  const exited = once(child, 'exit')
  const clients: Client[] = []
  let recovered = { failed: 0, resumed: 0 }
  const ready = message(child, has<Ready>('port'))
  const going = ready.then(async (system) => {
    recovered = system.recovered
    for (let i = 0; i < sessions; i += 1) {
      const session = `${round}.${i}`
      for (const dialect of dialects) {
        const url = `http://127.0.0.1:${system.port}/?session=${session}&dialect=${dialect.name}`
        clients.push({ session, dialect, received: await StreamText.open(url) })
      }
    }
    if (child.connected) child.send('go')
    return system
  })
  going.catch(() => {})
  await kill(going, clients).catch(() => {})
  child.kill('SIGKILL')
  expect(await exited).toEqual([null, 'SIGKILL'])
  return { clients, recovered }
}

/** What any client of this dialect is sent of these rows. */
function printed(dialect: Dialect, session: string, rows: readonly Recorded[]): string {
  const encoder = dialect.encoder({ session })
  return `retry: 1000\n\n${rows.flatMap((row) => withSeq(encoder.push(row), row.seq).map(printFrame)).join('')}`
}
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

test(`SPEC 2.3, 4.1: killed ${rounds} times with ${sessions} runs going: nothing a client saw is gone, every run has one end`, async () => {
  let amount = 0
  let crashed = 0
  let resumed = 0
  for (let round = 0; round < rounds; round += 1) {
    // Every fifth one dies while it starts, recovers or listens; the others at a random moment of their runs, which is
    // counted in what clients have: a busy machine takes longer to get there, and no less happens.
    const moment = Math.random()
    const { clients, recovered } = await runAndKill(round, (ready, all) =>
      round % 5 === 4
        ? wait(moment * 200)
        : ready.then(() =>
            heard(
              all.map((client) => client.received),
              moment * 200_000,
            ),
          ),
    )
    resumed += recovered.resumed
    const system = await openSystem(folder, 0)
    const { log, engine } = system
    expect(await log.integrity()).toEqual([])
    for (const { session, dialect, received } of clients) {
      const whole = printed(dialect, session, await log.read(session, { after: 0 }))
      expect(received.partsFrom(whole), `${session} ${dialect.name}`).toBe(undefined)
      amount += received.length
    }
    // Every other time the next process recovers, and may be killed doing it.
    if (round % 2 === 0 || round === rounds - 1) {
      const count = await engine.recover()
      crashed += count.failed
      resumed += count.resumed
      await engine.shutdown(60_000)
      const { sessions: all } = await log.list({ user: 'u', limit: 500 })
      const fresh = all.filter(({ id }) => Number.parseInt(id, 10) >= round - 1)
      for (const { id } of fresh) oneEndEach(await log.read(id, { after: 0 }))
      expect(await log.expired('crash test')).toEqual([])
    }
    await log.close()
  }
  expect(amount).toBeGreaterThan(rounds * 4000)
  expect(crashed).toBeGreaterThan(rounds)
  expect(resumed).toBeGreaterThan(rounds)
})

function oneEndEach(rows: readonly Recorded[]): void {
  const runs = new Map<string, Recorded[]>()
  for (const row of rows) runs.set(row.run, [...(runs.get(row.run) ?? []), row])
  for (const [run, own] of runs) {
    const kinds = own.map(({ event }) => event.kind)
    expect(kinds.indexOf('run.finished'), `the end of ${run}`).toBe(kinds.length - 1)
    // SPEC 4.6: what was whole before a crash is not said again.
    const whole = own.flatMap(({ event }) => (event.kind === 'agent' && !event.event.partial ? [event.message] : []))
    expect(new Set(whole).size).toBe(whole.length)
    const last = own.at(-1)?.event
    const again = own[0]?.event.kind === 'run.started' && own[0].event.agent === 'again'
    if (again) expect(last).toMatchObject({ outcome: 'done' })
    if (again) expect(whole).toHaveLength(12)
    // Nor does any reader see it twice: what was half said before a crash is marked.
    const shown = itemsOf(fold(transcriptView, own)).flatMap((item) =>
      item.kind === 'message' && item.superseded !== true ? [item.text] : [],
    )
    if (again) expect(shown).toEqual(Array.from({ length: 12 }, (_, step) => `ærlig talt 日本 🌍 «${step}» `))
  }
}
