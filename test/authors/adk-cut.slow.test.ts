import { fold, planView, type Recorded } from '@millrace/core'
import { expect, test } from 'vitest'
import { adkAgent } from '../../packages/server/src/agent/adk/adk-agent.ts'
import { errorsIn, foldState, linesOf } from './adk/compare.ts'
import { conversations } from './adk/conversations.ts'
import { cutEverywhere, sameAccount, wrongCuts } from './kit/cut.ts'

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

/** An agent with MCP tools does not opt in to go on after a crash. */
const resumable = Object.entries(conversations).filter(([pattern]) => pattern !== 'mcp')

test.each(resumable)('%s: from any row of the log the run ends as it would have', async (pattern, talk) => {
  const { rootAgent, app } = (await import(`./adk/${pattern}/agent.ts`)) as { rootAgent?: unknown; app?: unknown }
  const agent = adkAgent(pattern, async () => app ?? rootAgent, { resumable: true })
  const cuts = cutEverywhere(agent, talk.turns('cut', true))
  expect(
    await wrongCuts(
      cuts,
      sameAccount((rows) => account(rows, pattern)),
    ),
  ).toEqual({})
})
