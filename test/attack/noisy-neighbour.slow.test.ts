import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { full } from '../kit/full.ts'
import { type AttackedServer, attackedServer, manyKeys } from './bounded-work-kit.ts'

/** Quiet and noisy times take turns, so that what else the machine does changes both alike. */
const cycles = full ? 12 : 2
const rounds = full ? { quiet: 5, noisy: 10 } : { quiet: 1, noisy: 8 }
/** Two runs a second are within bob's rate. The short form has fewer runs than a minute allows. */
const pace = full ? 500 : 0
/**
 * How many times as long another user may wait. Only the full form, which has the machine to itself, is judged by it. The
 * short form is judged by the processor time that the main thread takes without a break, which other load leaves alone.
 */
const bar = 3
/** A few milliseconds are the grain of the system's scheduler, not of the server. */
const grain = 5
/** How long the main thread may work without a break: as long as so many times parsing the largest event. */
const longestStretch = 16

const noise = fileURLToPath(new URL('./noisy-neighbour-client.mjs', import.meta.url))
const watch = pathToFileURL(fileURLToPath(new URL('./loop-watch.mjs', import.meta.url))).href
const watched = join(tmpdir(), `millrace-loop-watch-${process.pid}.json`)

let server: AttackedServer
beforeAll(async () => {
  server = await attackedServer({ NODE_OPTIONS: `--import ${watch}`, LOOP_WATCH_FILE: watched })
})
afterAll(async () => {
  await server?.close()
  rmSync(watched, { force: true })
})

let threads = 0
const answers: string[] = []

/** How long bob waits, in ms: for health, for the start of a run, for its last token, and for the page. */
async function round(): Promise<Record<'health' | 'start' | 'end' | 'page', number>> {
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const begun = performance.now()
    await work()
    return performance.now() - begun
  }
  const health = await timed(async () => (await fetch(`${server.address}/health`)).text())
  const page = await timed(async () => (await server.as('bob', '/sessions?limit=20')).text())
  const body = JSON.stringify({
    threadId: `bob-${++threads}`,
    runId: 'r',
    messages: [{ id: '1', role: 'user', content: 'Hello' }],
  })
  const begun = performance.now()
  const answer = await server.as('bob', '/', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const start = performance.now() - begun
  answers.push(await answer.text())
  return { health, start, end: performance.now() - begun, page }
}

type Waits = Awaited<ReturnType<typeof round>>

/** The first round belongs to the time before. */
async function several(count: number): Promise<readonly Waits[]> {
  await round()
  const all: Waits[] = []
  while (all.length < count) {
    all.push(await round())
    await setTimeout(pace)
  }
  return all
}

function median(all: readonly Waits[], what: keyof Waits): number {
  const sorted = all.map((each) => each[what]).sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

/** The longest time that the main thread of the server has worked without a break since it was asked last, in ms. */
async function stretch(): Promise<number> {
  rmSync(watched, { force: true })
  server.child.kill('SIGUSR2')
  await expect.poll(() => existsSync(watched) && readFileSync(watched, 'utf8')).toMatch(/\}$/)
  return JSON.parse(readFileSync(watched, 'utf8')).longest[0]
}

/** What parsing the event with 100,000 keys takes of the processor, in ms: the unit for work that cannot be divided. */
function unit(): number {
  const [event] = manyKeys(100_000, 0)
  const text = JSON.stringify(event)
  const times = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage()
    JSON.parse(text)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  })
  return times.sort((a, b) => a - b)[2] ?? 0
}

test('while one user does the worst, no other user waits for it, and nothing is lost', async () => {
  await several(3) // warm
  await stretch()
  const before = server.memory()
  const child = spawn(process.execPath, [noise, server.address, 'ada-token'], { stdio: ['ignore', 'pipe', 'inherit'] })
  let counts = '{}'
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    counts = text.trim().split('\n').at(-1) ?? '{}'
  })
  await once(child.stdout, 'data')
  const quiet: Waits[] = []
  const noisy: Waits[] = []
  // The noise must have done something before it counts: an import takes long on a busy machine. Bob waits for that
  // without runs, because a minute has a limit of them.
  await expect.poll(() => JSON.parse(counts)['201'] ?? 0).toBeGreaterThan(0)
  await expect.poll(() => JSON.parse(counts)['200'] ?? 0).toBeGreaterThan(20)
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    noisy.push(...(await several(rounds.noisy)))
    child.kill('SIGSTOP')
    quiet.push(...(await several(rounds.quiet)))
    child.kill('SIGCONT')
  }
  child.kill('SIGKILL')
  await once(child, 'exit')
  const medians = Object.fromEntries(
    (['health', 'start', 'end', 'page'] as const).map((what) => {
      const [calm, loud] = [median(quiet, what), median(noisy, what)]
      return [what, { quiet: calm, noisy: loud, ratio: loud / (calm + grain) }]
    }),
  )
  const longest = await stretch()
  const parse = unit()
  const figures = `${JSON.stringify({ medians, longest, parse })} while the other was answered ${counts}`
  if (full) {
    process.stdout.write(`${figures}\n`)
    expect(
      Object.values(medians).filter(({ ratio }) => ratio > bar),
      figures,
    ).toEqual([])
  }
  expect(longest / parse, figures).toBeLessThan(longestStretch)
  // Nothing of bob's is lost.
  for (const text of answers) expect(text).toContain('RUN_FINISHED')
  const { total } = (await (await server.as('bob', '/sessions?limit=1')).json()) as { total: number }
  expect(total).toBe(threads)
  // What the noise took is given back.
  await expect.poll(() => server.memory(), { timeout: 60_000, interval: 250 }).toBeLessThan(before + 400 * 2 ** 20)
})
