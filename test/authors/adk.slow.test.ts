import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Served } from '../kit/built-server.ts'
import { full } from '../kit/full.ts'
import { loadedAgents } from '../kit/loaded-agents.ts'
import { bareRun } from './adk/bare.ts'
import { errorsIn, foldState, linesOf } from './adk/compare.ts'
import { conversations } from './adk/conversations.ts'
import { serveAuthors } from './kit/served.ts'
import { logOf, stateOf, wrongWith } from './kit/session.ts'
import { converse, type WireName, wireNames } from './kit/wires.ts'

// Agents as ADK's documentation writes them: each runs bare, on ADK's own Runner, and on one built server, at the door of
// each dialect. What was said, by whom, in which order, and the state must be the same.

const folder = mkdtempSync(join(tmpdir(), 'millrace-authors-adk-'))
const agents = fileURLToPath(new URL('adk/', import.meta.url))
let served: Served

beforeAll(async () => {
  served = await serveAuthors(agents, folder, { PATH: process.env.PATH ?? '' })
})
afterAll(async () => {
  await served?.kill()
  rmSync(folder, { recursive: true })
})

/** The console of ADK Studio takes the next input as the answer, and this client of ADK answers what it has just read. */
const asides: ReadonlySet<WireName> = new Set(['ag-ui', 'plan'])

/** Letters only: ADK's memory knows words of letters. */
const keys: Readonly<Record<WireName, string>> = { adk: 'adk', 'ag-ui': 'agui', studio: 'studio', plan: 'plan' }

test('every agent of the folder loads', async () => {
  const listed = await loadedAgents(served.address)
  expect(listed.map(({ name, engine, error }) => [name, error ?? engine])).toEqual(
    Object.keys(conversations).map((name) => [name, 'adk']),
  )
})

/** Every agent is at two doors, in turn, so that each door has half of them; in the whole form all are at all doors. */
const doorsOf = (agent: number): readonly WireName[] => wireNames.filter((_, door) => full || (agent + door) % 2 === 0)
const patterns = Object.entries(conversations).map(([pattern, talk], i) => ({ pattern, talk, doors: doorsOf(i) }))

describe.each(patterns)('$pattern', ({ pattern, talk, doors }) => {
  test.each(doors)('on %s: what was said, by whom, and the state are as ADK itself has them', async (wire) => {
    const sessions = talk.turns(keys[wire], asides.has(wire))
    const bare = await bareRun(pattern, sessions)
    for (const [i, { rows: wanted, state }] of bare.sessions.entries()) {
      const { session, rows } = await converse(served.address, pattern, wire, sessions[i] ?? [])
      const stored = await logOf(served.address, session)
      expect(wrongWith(stored)).toEqual([])
      expect(linesOf(stored, talk)).toEqual(linesOf(wanted, talk))
      expect(errorsIn(stored)).toEqual(errorsIn(wanted))
      expect(await stateOf(served.address, session)).toEqual(state)
      // What the client of this wire has.
      expect(linesOf(rows, talk, wire)).toEqual(linesOf(wanted, talk, wire))
      if (wire === 'adk' || wire === 'ag-ui') expect(foldState(rows)).toEqual(state)
      if (wire === 'studio') expect(Object.keys(foldState(rows)).sort()).toEqual(Object.keys(state).sort())
    }
  })
})
