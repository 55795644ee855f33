import { fold, planView, type Recorded } from '@millrace/core'
import type { Agent } from '@millrace/server'
import { expect, test } from 'vitest'
import { adkAgent } from '../../packages/server/src/agent/adk/adk-agent.ts'
import { full } from '../kit/full.ts'
import { errorsIn, foldState, linesOf } from './adk/compare.ts'
import { conversations } from './adk/conversations.ts'
import { cutEverywhere, cutTwice, sameAccount, wrongCuts } from './kit/cut.ts'

// The authors' agents, cut after every single row of their logs, as a crash can. The run that goes on must come to the
// same messages, state and files as the run that was left alone.

const account = (rows: readonly Recorded[], pattern: string) => ({
  lines: linesOf(rows, conversations[pattern] ?? { turns: () => [] }),
  errors: errorsIn(rows),
  state: foldState(rows),
  files: fold(planView, rows)
    .artifacts.toArray()
    .map(({ name, version }) => `${name} ${version}`),
  ends: rows.flatMap(({ event }) => (event.kind === 'run.finished' ? [event.outcome] : [])),
})

const same = (pattern: string) => sameAccount((rows) => account(rows, pattern))

/** An agent with MCP tools does not opt in to go on after a crash. */
const resumable = Object.entries(conversations).filter(([pattern]) => pattern !== 'mcp')

test.each(resumable)('%s: from any row of the log the run ends as it would have', async (pattern, talk) => {
  const agent = await agentOf(pattern)
  expect(await wrongCuts(cutEverywhere(agent, talk.turns('cut', true)), same(pattern))).toEqual({})
})

test.each(resumable)('%s: so does one that is cut a second time', async (pattern, talk) => {
  const [taken = []] = talk.turns('cut', true)
  expect(await wrongCuts(cutTwice(await agentOf(pattern), taken, full ? 1 : 9), same(pattern))).toEqual({})
})

async function agentOf(pattern: string): Promise<Agent> {
  const { rootAgent, app } = (await import(`./adk/${pattern}/agent.ts`)) as { rootAgent?: unknown; app?: unknown }
  return adkAgent(pattern, async () => app ?? rootAgent, { resumable: true })
}
