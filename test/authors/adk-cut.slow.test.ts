import { type EventLog, fold, type Json, memoryLog, planView, type Recorded, type RunInput } from '@millrace/core'
import type { Agent } from '@millrace/server'
import { expect, test } from 'vitest'
import { adkAgent } from '../../packages/server/src/agent/adk/adk-agent.ts'
import { bench } from '../kit/engine-kit.ts'
import { errorsIn, foldState, linesOf } from './adk/compare.ts'
import { conversations } from './adk/conversations.ts'
import { openQuestions, type Turn, wrongWith } from './kit/session.ts'

// The authors' agents, cut after every single row of their logs, as a crash can. The run that goes on must come to the
// same messages, state and files as the run that was left alone.

const clock = { now: 1_000 }

function inputOf(turn: Turn, rows: readonly Recorded[]): RunInput {
  if ('say' in turn) {
    const content = { role: 'user', parts: [{ text: turn.say }] }
    return { messages: [{ id: `m${rows.length}`, role: 'user', content }] }
  }
  const payload: Json = turn.answer
  return { messages: [], resume: openQuestions(rows).map((interrupt) => ({ interrupt, status: 'resolved', payload })) }
}

/** The sessions of an agent that was left alone. */
async function wholeSessions(
  agent: Agent,
  talks: readonly (readonly Turn[])[],
): Promise<readonly (readonly Recorded[])[]> {
  const own = bench([agent], { clock })
  const sessions: (readonly Recorded[])[] = []
  for (const [i, turns] of talks.entries()) {
    const session = `s${i}`
    await own.log.create({ id: session, user: 'u', agent: agent.name })
    for (const turn of turns) {
      const input = inputOf(turn, await own.rows(session))
      const { run } = await own.start(agent.name, { session, input })
      await own.engine.wait(session, run)
    }
    sessions.push(await own.rows(session))
  }
  return sessions
}

/** Writes the rows as the process wrote that died after the last of them. */
async function write(log: EventLog, agent: string, session: string, rows: readonly Recorded[]): Promise<void> {
  await log.create({ id: session, user: 'u', agent })
  for (const run of new Set(rows.map((row) => row.run))) {
    const own = rows.filter((row) => row.run === run)
    const lease = await log.acquire(session, run, 'me', 60_000)
    await log.append(
      session,
      own.map(({ event }) => ({ run, event })),
      lease,
    )
    if (own.some(({ event }) => event.kind === 'run.finished')) await log.release(lease)
  }
}

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
  const sessions = await wholeSessions(agent, talk.turns('cut', true))
  const wrong: Record<string, unknown> = {}
  for (const [i, rows] of sessions.entries()) {
    for (const [at, { run, event }] of rows.entries()) {
      // The first rows of a run are one commit.
      const isOpening = event.kind === 'run.started' || event.kind === 'resumed' || event.kind === 'state'
      const isCommitted = !(isOpening && ['state', 'resumed'].includes(rows[at + 1]?.event.kind ?? ''))
      if (event.kind === 'run.finished' || !isCommitted) continue
      const wanted = rows.slice(0, 1 + rows.findIndex((row) => row.run === run && row.event.kind === 'run.finished'))
      const log = memoryLog(() => clock.now)
      for (const [j, before] of sessions.slice(0, i).entries()) await write(log, pattern, `s${j}`, before)
      await write(log, pattern, `s${i}`, rows.slice(0, at + 1))
      const own = bench([agent], { log, clock })
      await own.engine.recover()
      await own.engine.wait(`s${i}`, run)
      const got = await own.rows(`s${i}`)
      const place = `session ${i}, cut after row ${at + 1} (${event.kind})`
      try {
        expect(account(got, pattern), place).toEqual(account(wanted, pattern))
        expect(wrongWith(got), place).toEqual([])
      } catch (error) {
        wrong[place] = error instanceof Error ? error.message : error
      }
    }
  }
  expect(wrong).toEqual({})
})
