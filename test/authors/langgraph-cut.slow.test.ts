import type { Recorded } from '@millrace/core'
import { expect, test } from 'vitest'
import { type CompiledGraph, graphAgent } from '../../packages/server/src/agent/langgraph/langgraph-agent.ts'
import { full } from '../kit/full.ts'
import { foldState } from './adk/compare.ts'
import { plainState } from './kit/bare-graph.ts'
import { cutEverywhere, cutTwice, sameAccount, wrongCuts } from './kit/cut.ts'
import { shelved } from './kit/shelf-saver.ts'
import { spoken } from './kit/spoken.ts'
import { turns } from './langgraph/turns.ts'

// The authors' graphs, cut after every single row of their logs, as a crash can. The run that goes on must come to the
// same messages and state as the run that was left alone.

const account = (rows: readonly Recorded[]) => ({
  spoken: spoken(rows),
  state: plainState(foldState(rows)),
  ends: rows.flatMap(({ event }) => (event.kind === 'run.finished' ? [event.outcome] : [])),
})

const stores = ['in the log', 'with the log', 'ahead of the log'] as const
const cases = Object.entries(turns).flatMap(([pattern, taken]) => stores.map((store) => ({ pattern, taken, store })))

test.each(cases)(
  '$pattern with checkpoints $store: from any row of the log the run ends as it would have',
  async ({ pattern, taken, store }) => {
    const { graph, agent: wrapped } = await import(`./langgraph/${pattern}/agent.ts`)
    const file = { graph: (graph ?? wrapped.graph) as CompiledGraph, resumable: true }
    const { agent, edit, watch } =
      store === 'in the log'
        ? { agent: graphAgent(pattern, async () => file), edit: undefined, watch: undefined }
        : shelved(pattern, file.graph, store)
    const cuts = cutEverywhere(agent, [taken], edit, watch)
    expect(await wrongCuts(cuts, sameAccount(account))).toEqual({})
  },
)

test('a node that is answered from a cache and is cut a second time leaves nothing out', async () => {
  const { graph } = (await import('./langgraph/cached/agent.ts')) as unknown as { graph: CompiledGraph }
  const agent = graphAgent('cached', async () => ({ graph, resumable: true }))
  const cuts = cutTwice(agent, turns.cached ?? [], full ? 1 : 3)
  expect(await wrongCuts(cuts, sameAccount(account))).toEqual({})
})
