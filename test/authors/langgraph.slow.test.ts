import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Overwrite } from '@langchain/langgraph'
import { adkRequest, applyState, type JsonObject, type Recorded, type SessionInfo } from '@millrace/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Served } from '../kit/built-server.ts'
import { full } from '../kit/full.ts'
import { loadedAgents } from '../kit/loaded-agents.ts'
import { bareAgent, branched, graphOf } from './kit/bare-agent.ts'
import { type BareRun, Heard, plainState, take } from './kit/bare-graph.ts'
import { serveAuthors } from './kit/served.ts'
import { logOf, patchState, post, runOnce, stateOf, type Turn, wrongWith } from './kit/session.ts'
import { type Spoken, spoken } from './kit/spoken.ts'
import { converse, type WireName, wireNames } from './kit/wires.ts'
import { turns } from './langgraph/turns.ts'

// Each graph runs bare, as its author would run it in a script, and on one server: both must agree, on every wire.

const folder = mkdtempSync(join(tmpdir(), 'millrace-authors-'))
const agents = fileURLToPath(new URL('langgraph/', import.meta.url))
let served: Served

beforeAll(async () => {
  served = await serveAuthors(agents, folder)
})
afterAll(async () => {
  await served?.kill()
  rmSync(folder, { recursive: true })
})

/** Graphs of the shapes that came later: on all wires in the full form only. */
const later: ReadonlySet<string> = new Set([
  'breakpoints',
  'cached',
  'deferred',
  'deltas',
  'failures',
  'functional',
  'hitl-team',
  'inner-stream',
  'leaving',
  'stateful-inner',
  'title-page',
  'tool-question',
  'trimming',
])

const foldState = (rows: readonly Recorded[]): JsonObject =>
  rows.reduce<JsonObject>((state, { event }) => applyState(state, event), {})

test('every agent of the folder loads', async () => {
  const listed = await loadedAgents(served.address)
  expect(listed.map(({ name, engine, error }) => [name, error ?? engine])).toEqual(
    Object.keys(turns).map((name) => [name, 'langgraph']),
  )
})

describe.each(Object.entries(turns))('%s', (agent, taken) => {
  let bare: BareRun
  beforeAll(async () => {
    bare = await bareAgent(agent, taken)
  })

  test.each(full || !later.has(agent) ? wireNames : (['ag-ui'] as const))(
    'on %s: the state, the authors, the order and the questions are the framework’s own',
    async (wire) => {
      const { session, rows } = await converse(served.address, agent, wire, taken)
      const stored = await logOf(served.address, session)
      expect(wrongWith(stored)).toEqual([])
      expect(spoken(stored)).toEqual(bare.spoken)
      expect(plainState(await stateOf(served.address, session))).toEqual(bare.state)
      const asked = stored.flatMap(({ event }) => (event.kind === 'interrupt' ? [event.payload] : []))
      expect(asked).toEqual(bare.questions)

      const written = (list: readonly Recorded[]): readonly unknown[] =>
        list.flatMap(({ event }) => (event.kind === 'log' && event.message === 'custom' ? [event.data] : []))
      expect(written(stored)).toEqual(bare.custom)

      // What the client of this wire has.
      expect(carried(wire, spoken(rows))).toEqual(carried(wire, bare.spoken))
      const told = plainState(foldState(rows))
      if (wire === 'ag-ui') expect(told).toEqual(bare.state)
      // ADK has no form for a key that is removed, such as the `jumpTo` of a middleware.
      const kept = Object.entries(told).filter(([key]) => Object.hasOwn(bare.state, key))
      if (wire === 'adk') expect(Object.fromEntries(kept)).toEqual(bare.state)
      if (wire === 'studio') expect(Object.keys(told).sort()).toEqual(Object.keys(bare.state).sort())
      if (wire === 'ag-ui') expect(written(rows)).toEqual(bare.custom)
    },
  )
})

test.each([
  ['edited', { type: 'edit', editedAction: { name: 'mail', args: { to: 'bob' } } }],
  ['rejected', { type: 'reject', message: 'not now' }],
])('approval: a call that is %s has the answer that the framework gives it', async (_, decision) => {
  const taken = [{ say: 'Write to Ann' }, { answer: { decisions: [decision] } }]
  const bare = await bareAgent('approval', taken)
  const { session } = await converse(served.address, 'approval', 'studio', taken)
  const rows = await logOf(served.address, session)
  expect(wrongWith(rows)).toEqual([])
  expect(spoken(rows)).toEqual(bare.spoken)
  expect(plainState(await stateOf(served.address, session))).toEqual(bare.state)
})

test('breakpoints: a value that a person changes at a stop is the one that the graph goes on with', async () => {
  const [first, ...rest] = turns.breakpoints ?? []
  const graph = await graphOf('breakpoints')
  const config = { configurable: { thread_id: crypto.randomUUID() } }
  const heard = new Heard()
  await take(graph, config, first as Turn, heard)
  await graph.updateState(config, { plan: 'stay' })
  for (const turn of rest) await take(graph, config, turn, heard)

  const { session } = await converse(served.address, 'breakpoints', 'ag-ui', [first as Turn])
  await patchState(served.address, { id: session, agent: 'breakpoints', user: 'user' }, { plan: 'stay' })
  for (const turn of rest) await runOnce(served.address, 'breakpoints', session, turn)
  expect(wrongWith(await logOf(served.address, session))).toEqual([])
  expect(plainState(await stateOf(served.address, session))).toEqual(heard.result().state)
  expect(heard.result().state.seen).toEqual(['thought', 'acted: stay'])
})

describe('a session that is forked at an earlier moment goes on as the framework does from that checkpoint', () => {
  /** The fork of a session at the first row after which `at` holds; takes the turn, and returns the fork's state. */
  const forked = async (
    session: string,
    at: (row: Recorded) => boolean,
    edit: object,
    turn: Turn,
  ): Promise<JsonObject> => {
    const seq = (await logOf(served.address, session)).find(at)?.seq
    const fork = JSON.parse(await post(served.address, `/sessions/${session}/fork`, { at: seq })) as SessionInfo
    if (Object.keys(edit).length > 0) await patchState(served.address, fork, edit)
    await runOnce(served.address, fork.agent, fork.id, turn)
    expect(wrongWith(await logOf(served.address, fork.id))).toEqual([])
    return plainState(await stateOf(served.address, fork.id))
  }
  const isEndOf = (outcome: string) => (row: Recorded) =>
    row.event.kind === 'run.finished' && row.event.outcome === outcome

  test('with another message, after the first run', async () => {
    const { session } = await converse(served.address, 'time-travel', 'ag-ui', turns['time-travel'] ?? [])
    const state = await forked(session, isEndOf('done'), {}, { say: 'dogs' })
    expect(state).toEqual(await branched('time-travel', 1, {}, { say: 'dogs' }))
    expect(state.path).toEqual(['chose bees', 'wrote bees', 'chose dogs', 'wrote dogs'])
  })

  test('with a value that a person changed', async () => {
    const { session } = await converse(served.address, 'time-travel', 'studio', turns['time-travel'] ?? [])
    const state = await forked(session, isEndOf('done'), { path: ['by hand'] }, { say: 'dogs' })
    expect(state).toEqual(await branched('time-travel', 1, { path: new Overwrite(['by hand']) }, { say: 'dogs' }))
    expect(state.path).toEqual(['by hand', 'chose dogs', 'wrote dogs'])
  })

  test('with another answer to the same question', async () => {
    const { session } = await converse(served.address, 'nested-question', 'adk', turns['nested-question'] ?? [])
    const state = await forked(session, isEndOf('interrupted'), {}, { answer: 'not yet' })
    // LangGraph itself keeps the first answer with the checkpoint, so a thread that was answered like this is the measure.
    const [first] = turns['nested-question'] ?? []
    const other = await bareAgent('nested-question', [first as Turn, { answer: 'not yet' }])
    expect(state).toEqual(other.state)
    expect(state.verdict).toBe('not yet')
  })

  test('in the middle of a run, with another message', async () => {
    const { session } = await converse(served.address, 'time-travel', 'adk', turns['time-travel'] ?? [])
    const isStarted = ({ event }: Recorded): boolean => event.kind === 'node.started' && event.node === 'write@1'
    const state = await forked(session, isStarted, {}, { say: 'dogs' })
    expect(state).toEqual(await branched('time-travel', 0, {}, { say: 'dogs' }, ['write']))
    expect(state.path).toEqual(['chose bees', 'chose dogs', 'wrote dogs'])
  })
})

/**
 * What a wire can carry. ADK shows a question as a call, AG-UI has no author of a tool call, and the plan wire has text
 * alone: no authors, no ends of messages, and the results of tools as text.
 */
function carried(wire: WireName, lines: readonly Spoken[]): readonly Spoken[] {
  if (wire === 'adk') return lines.filter((line) => !line.includes(` calls ${adkRequest.input} `))
  if (wire === 'ag-ui') return lines.map((line) => line.replace(/^[\w-]+(?= calls )/, ''))
  if (wire !== 'plan') return lines
  const joined: Spoken[] = []
  for (const line of lines) {
    const bare = line.replace(/^[\w-]+(?=: | calls )/, '').replace(/(?<= answers )\{.*$/s, textOf)
    const before = joined.at(-1)
    const goesOn = bare.startsWith(': ') && before?.startsWith(': ') === true
    if (goesOn) joined.splice(-1, 1, `${before}${bare.slice(2)}`)
    else joined.push(bare)
  }
  return joined
}

function textOf(result: string): string {
  const value: unknown = JSON.parse(result)
  const { result: text, ...more } = value as { result?: unknown }
  return typeof text === 'string' && Object.keys(more).length === 0 ? text : result
}
