import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterAll, beforeAll, expect, test } from 'vitest'
import { dice } from '../../packages/core/src/testing/dice.ts'
import { built, type Served, serveBuilt } from '../kit/built-server.ts'
import { full } from '../kit/full.ts'
import { bareAgent } from './kit/bare-agent.ts'
import { type BareRun, plainState } from './kit/bare-graph.ts'
import { killedOnce, type Survived, unexplained } from './kit/killed.ts'
import { stateOf, wrongWith } from './kit/session.ts'
import { spoken } from './kit/spoken.ts'
import { turns } from './langgraph/turns.ts'

// All graphs at once on one server, which is killed at a random step. Each must come to the end that the framework
// itself comes to, with every effect once, or end with an error that says why.

/** A fixed seed, so that a change is judged by itself. */
const asked = process.env.PROPERTY_SEED
const seed = asked === 'random' ? Math.floor(Math.random() * 1e6) + 1 : Number(asked ?? 20_261_115)
const kills = full ? 25 : 2

const folder = mkdtempSync(join(tmpdir(), 'millrace-killed-'))
const agents = fileURLToPath(new URL('langgraph/', import.meta.url))
const ended: readonly string[] = ['handoff', 'tool-loop']
const bare = new Map<string, BareRun & { readonly effects: readonly string[] }>()
let served: Served | undefined

const lines = (file: string): readonly string[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : []

beforeAll(async () => {
  await built()
  for (const [agent, taken] of Object.entries(turns)) {
    const file = join(folder, `bare-${agent}`)
    process.env.AUTHORS_EFFECTS = file
    bare.set(agent, { ...(await bareAgent(agent, taken)), effects: lines(file) })
  }
  delete process.env.AUTHORS_EFFECTS
})
afterAll(async () => {
  await served?.kill()
  rmSync(folder, { recursive: true })
})

const roll = dice(seed)
/** The nodes that start in all conversations together: a kill comes at one of them. */
const nodes = 170

test.each(Array.from({ length: kills }, (_, i) => [i + 1, 1 + roll(nodes)]))(
  `seed ${seed}, kill %i at node %i: every graph resumes or ends truthfully`,
  async (number, killAt) => {
    const effects = join(folder, `effects-${number}`)
    // A process for each graph takes seconds of a core at each start, so some of the kills have them, for some graphs.
    const isolate = number % 5 === 1 ? 'on' : 'off'
    const share = full ? 3 : 8
    const isTaken = (i: number): boolean => isolate === 'off' || i % share === Math.floor(number / 5) % share
    const place = ['--data-dir', join(folder, `data-${number}`), '--agents', agents]
    const args = ['serve', '--port', '0', ...place, '--isolate', isolate]
    const serve = async (): Promise<Served> => {
      served = await serveBuilt(args, { AUTHORS_EFFECTS: effects, AUTHORS_PACE: '30' })
      return served
    }
    const all = Object.entries(turns).map(([agent, taken]) => ({ agent, turns: taken }))
    const list = all.filter((_, i) => isTaken(i))
    try {
      const { address, survived } = await killedOnce(serve, list, Math.ceil((killAt * list.length) / all.length))
      for (const each of survived) await judge(each, address, lines(effects))
    } finally {
      await served?.kill()
    }
  },
)

async function judge(each: Survived, address: string, effects: readonly string[]): Promise<void> {
  const { agent, rows, end, session } = each
  const runs = rows.filter(({ event }) => event.kind === 'run.started').map(({ run }) => run)
  const ends = rows.filter(({ event }) => event.kind === 'run.finished').map(({ run }) => run)
  expect([agent, ends]).toEqual([agent, runs])
  expect([agent, wrongWith(rows)]).toEqual([agent, []])
  expect(unexplained(effects, each)).toEqual([])
  if (end?.outcome === 'failed') {
    expect([agent, end.error?.code]).toEqual([agent, 'crashed'])
    expect(ended).toContain(agent)
    return
  }
  const wanted = bare.get(agent)
  expect([agent, end?.outcome]).toEqual([agent, 'done'])
  expect([agent, spoken(rows)]).toEqual([agent, wanted?.spoken])
  expect([agent, plainState(await stateOf(address, session))]).toEqual([agent, wanted?.state])
  const own = new Set(effects.filter((line) => line.startsWith(`${agent}/`)))
  expect([...own].sort()).toEqual([...(wanted?.effects ?? [])].sort())
}
