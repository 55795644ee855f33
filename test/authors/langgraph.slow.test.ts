import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { adkRequest, applyState, type JsonObject, type Recorded } from '@millrace/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { built, type Served, serveBuilt } from '../kit/built-server.ts'
import { bareAgent } from './kit/bare-agent.ts'
import { type BareRun, plainState } from './kit/bare-graph.ts'
import { logOf, stateOf, wrongWith } from './kit/session.ts'
import { type Spoken, spoken } from './kit/spoken.ts'
import { converse, type WireName, wireNames } from './kit/wires.ts'
import { turns } from './langgraph/turns.ts'

// Each graph runs bare, as its author would run it in a script, and on one server: both must agree, on every wire.

const folder = mkdtempSync(join(tmpdir(), 'millrace-authors-'))
const agents = fileURLToPath(new URL('langgraph/', import.meta.url))
let served: Served

beforeAll(async () => {
  await built()
  served = await serveBuilt(['serve', '--port', '0', '--data-dir', folder, '--agents', agents])
})
afterAll(async () => {
  await served?.kill()
  rmSync(folder, { recursive: true })
})

const foldState = (rows: readonly Recorded[]): JsonObject =>
  rows.reduce<JsonObject>((state, { event }) => applyState(state, event), {})

test('every agent of the folder loads', async () => {
  const { agents: listed } = (await (await fetch(`${served.address}/agents`)).json()) as {
    agents: { name: string; engine: string; error?: string }[]
  }
  expect(listed.map(({ name, engine, error }) => [name, error ?? engine])).toEqual(
    Object.keys(turns).map((name) => [name, 'langgraph']),
  )
})

describe.each(Object.entries(turns))('%s', (agent, taken) => {
  let bare: BareRun
  beforeAll(async () => {
    bare = await bareAgent(agent, taken)
  })

  test.each(wireNames)(
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
      if (wire === 'adk' || wire === 'ag-ui') expect(plainState(foldState(rows))).toEqual(bare.state)
      if (wire === 'studio') expect(Object.keys(foldState(rows)).sort()).toEqual(Object.keys(bare.state).sort())
      if (wire === 'ag-ui') expect(written(rows)).toEqual(bare.custom)
    },
  )
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
