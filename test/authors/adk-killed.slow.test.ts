import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { built, type Served, serveBuilt } from '../kit/built-server.ts'
import { full } from '../kit/full.ts'
import { type BareRun, bareRun } from './adk/bare.ts'
import { errorsIn, linesOf } from './adk/compare.ts'
import { conversations } from './adk/conversations.ts'
import { takeTurns } from './adk/take-turns.ts'
import { logOf, stateOf, wrongWith } from './kit/session.ts'

// Every agent is stopped at a step of its own (inside its model, its tools or its callbacks), then the server is killed,
// and another one goes on with the same data. A small form runs with all tests; MILLRACE_FULL=1 stops at every step.

const root = mkdtempSync(join(tmpdir(), 'millrace-authors-killed-'))
const agents = fileURLToPath(new URL('adk/', import.meta.url))
const patterns = Object.keys(conversations)
/** Without `export const resumable`, a run that was cut ends as crashed. */
const isResumable = (pattern: string): boolean => pattern !== 'mcp'
const bare = new Map<string, BareRun & { readonly effects: readonly string[] }>()
const servers = new Set<Served>()

interface Files {
  readonly effects: string
  readonly held: string
}
const filesOf = (round: string): Files => ({
  effects: join(root, `effects-${round}`),
  held: join(root, `held-${round}`),
})
const linesIn = (file: string): readonly string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
/** What an agent did to the world, in no order: tools of one turn run at the same time. */
const effectsOf = (pattern: string, file: string): readonly string[] =>
  linesIn(file)
    .map((line) => JSON.parse(line) as { pattern: string; what: string })
    .flatMap((effect) => (effect.pattern === pattern ? [effect.what] : []))
    .sort()

beforeAll(async () => {
  await built()
  const { effects } = filesOf('bare')
  process.env.AUTHORS_EFFECTS = effects
  for (const [pattern, talk] of Object.entries(conversations)) {
    const ran = await bareRun(pattern, talk.turns('killed', true))
    bare.set(pattern, { ...ran, effects: effectsOf(pattern, effects) })
  }
})
afterAll(() => rmSync(root, { recursive: true }))

async function serve(round: string, holds: Readonly<Record<string, number>>): Promise<Served> {
  const { effects, held } = filesOf(round)
  // A process for each agent, twice in each round, takes a minute: only the whole form pays for them.
  const isolate = full ? 'on' : 'off'
  const data = join(root, `data-${round}`)
  const args = ['serve', '--port', '0', '--data-dir', data, '--agents', agents, '--isolate', isolate]
  const env = { AUTHORS_EFFECTS: effects, AUTHORS_HELD: held, AUTHORS_HOLD: JSON.stringify(holds) }
  const served = await serveBuilt(args, { PATH: process.env.PATH ?? '', ...env })
  servers.add(served)
  return served
}

interface Round {
  readonly number: number
  /** `held`: once every agent has come to its step. `working`: while half of them still work, wherever they are. */
  readonly when: 'held' | 'working'
}
const { PROPERTY_SEED: asked = '20261115' } = process.env
const seed = asked === 'random' ? Date.now() : Number(asked)
const [held = 0] = fc.sample(fc.nat({ max: 1000 }), { seed, numRuns: 1 })
/** No agent takes more steps than the first number. */
const rounds: readonly Round[] = full
  ? Array.from({ length: 40 }, (_, number) => ({ number, when: number < 30 ? 'held' : 'working' }))
  : [{ number: held, when: 'held' }]

describe.each(rounds)(`killed when agents are $when (round $number of seed ${seed})`, ({ number, when }) => {
  /** The step at which each agent is stopped: each round another one, in turn. */
  const holds: Record<string, number> = {}
  let address = ''

  beforeAll(async () => {
    for (const [i, pattern] of patterns.entries()) {
      holds[pattern] = 1 + ((full ? number : number * (i + 1)) % (bare.get(pattern)?.steps ?? 1))
    }
    const name = String(number)
    const first = await serve(name, holds)
    const over = new Set<string>()
    const talks = Object.entries(conversations).map(async ([pattern, talk]) => {
      await takeTurns(first.address, pattern, talk.turns('killed', true))
      over.add(pattern)
    })
    const isStopped = (pattern: string): boolean => over.has(pattern) || linesIn(filesOf(name).held).includes(pattern)
    const enough = when === 'held' ? patterns.length : patterns.length / 2
    const broken = Promise.allSettled(talks)
    await vi.waitUntil(() => patterns.filter(isStopped).length >= enough, { timeout: 600_000 })
    await first.kill()
    await broken
    const second = await serve(name, {})
    address = second.address
    await Promise.all(
      Object.entries(conversations).map(([pattern, talk]) => takeTurns(address, pattern, talk.turns('killed', true))),
    )
  })

  afterAll(async () => {
    for (const served of servers) await served.kill()
    servers.clear()
  })

  test.each(patterns)('%s ends as it would have, or says that it could not', async (pattern) => {
    const { [pattern]: talk } = conversations
    const wanted = bare.get(pattern)
    if (talk === undefined || wanted === undefined) throw new Error(`no bare run of ${pattern}`)
    const at = `held at step ${holds[pattern]} of ${wanted.steps}`
    const effects = effectsOf(pattern, filesOf(String(number)).effects)
    let crashed = false
    for (const [i, session] of wanted.sessions.entries()) {
      const id = `${pattern}-${i}`
      const rows = await logOf(address, id)
      expect(wrongWith(rows), at).toEqual([])
      const begun = rows.flatMap(({ run, event }) => (event.kind === 'run.started' ? [run] : []))
      const ends = rows.flatMap(({ run, event }) => (event.kind === 'run.finished' ? [run] : []))
      expect(ends, at).toEqual(begun)
      crashed ||= rows.some(({ event }) => event.kind === 'run.finished' && event.error?.code === 'crashed')
      if (crashed) break
      expect(linesOf(rows, talk), at).toEqual(linesOf(session.rows, talk))
      expect(errorsIn(rows), at).toEqual(errorsIn(session.rows))
      expect(await stateOf(address, id), at).toEqual(session.state)
    }
    if (!crashed) expect(effects, at).toEqual(wanted.effects)
    else {
      expect(isResumable(pattern), at).toBe(false)
      expect(new Set(effects).size, at).toBe(effects.length)
      expect(wanted.effects, at).toEqual(expect.arrayContaining([...effects]))
    }
  })
})
