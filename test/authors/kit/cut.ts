import { type EventLog, type Json, memoryLog, type Recorded, type RunInput } from '@millrace/core'
import type { Agent } from '@millrace/server'
import { expect } from 'vitest'
import { recordSeal } from '../../../packages/server/src/agent/record-seal.ts'
import { bench } from '../../kit/engine-kit.ts'
import { openQuestions, type Turn, wrongWith } from './session.ts'

// Conversations that are cut after every single row of their logs, as a crash can cut them.

const clock = { now: 1_000 }
/** The server that goes on is the one that crashed, so it knows its own checkpoints. */
const seal = recordSeal(new Uint8Array(32))

/** A session that was left alone up to the end of a run, and one that was cut in this run and went on. */
export interface CutSession {
  readonly place: string
  readonly whole: readonly Recorded[]
  readonly resumed: readonly Recorded[]
}

/**
 * Each list of turns is a session of its own. `edit` is what a person does outside any run once it is cut. `watch` sees the
 * log of the sessions that are left alone.
 */
export async function* cutEverywhere(
  agent: Agent,
  talks: readonly (readonly Turn[])[],
  edit: (rows: readonly Recorded[]) => readonly Recorded['event'][] = () => [],
  watch: (log: EventLog) => EventLog = (log) => log,
): AsyncGenerator<CutSession> {
  const sessions = await wholeSessions(agent, talks, watch(memoryLog(() => clock.now)))
  for (const [i, rows] of sessions.entries()) {
    for (const at of placesToCut(rows)) {
      const kept = rows.slice(0, at + 1)
      const resumed = await goneOn(agent, [...sessions.slice(0, i), kept], edit(kept), 'again')
      yield { place: `session ${i}, cut after ${nameOf(rows, at)}`, whole: wholeRun(rows, at), resumed }
    }
  }
}

/** The same for a run that is cut, goes on, and is cut again at every row after that. Of the first cuts, one of `share` is made. */
export async function* cutTwice(agent: Agent, turns: readonly Turn[], share: number): AsyncGenerator<CutSession> {
  const [rows = []] = await wholeSessions(
    agent,
    [turns],
    memoryLog(() => clock.now),
  )
  for (const [nth, at] of placesToCut(rows).entries()) {
    if (nth % share !== 0) continue
    const once = await goneOn(agent, [rows.slice(0, at + 1)], [], 'again')
    for (const next of placesToCut(once).filter((place) => place > at)) {
      const resumed = await goneOn(agent, [once.slice(0, next + 1)], [], 'third')
      const place = `cut after ${nameOf(rows, at)}, then after ${nameOf(once, next)}`
      yield { place, whole: wholeRun(rows, at), resumed }
    }
  }
}

/** The rows after which a crash can cut. The first rows of a run are one commit, and after its end there is nothing to cut. */
function placesToCut(rows: readonly Recorded[]): readonly number[] {
  return rows.flatMap(({ event }, at) => {
    const isOpening = event.kind === 'run.started' || event.kind === 'resumed' || event.kind === 'state'
    const isCommitted = !(isOpening && ['state', 'resumed'].includes(rows[at + 1]?.event.kind ?? ''))
    return event.kind === 'run.finished' || !isCommitted ? [] : [at]
  })
}

const nameOf = (rows: readonly Recorded[], at: number): string => `row ${at + 1} (${rows[at]?.event.kind})`

/** The rows up to the end of the run of this row. */
function wholeRun(rows: readonly Recorded[], at: number): readonly Recorded[] {
  const run = rows[at]?.run
  return rows.slice(0, 1 + rows.findIndex((row) => row.run === run && row.event.kind === 'run.finished'))
}

/** The last session after another process has taken over the run that it was cut in. */
async function goneOn(
  agent: Agent,
  sessions: readonly (readonly Recorded[])[],
  edits: readonly Recorded['event'][],
  ids: string,
): Promise<readonly Recorded[]> {
  const log = memoryLog(() => clock.now)
  for (const [i, rows] of sessions.entries()) await write(log, agent.name, `s${i}`, rows)
  const session = `s${sessions.length - 1}`
  const byHand = edits.map((event) => ({ run: '', event }))
  if (byHand.length > 0) await log.append(session, byHand)
  const own = bench([agent], { log, clock, seal, ids })
  await own.engine.recover()
  await own.engine.wait(session, sessions.at(-1)?.at(-1)?.run ?? '')
  return own.rows(session)
}

/** What `judge` finds wrong, by the place of the cut. */
export async function wrongCuts(
  cuts: AsyncIterable<CutSession>,
  judge: (cut: CutSession) => void,
): Promise<Readonly<Record<string, unknown>>> {
  const wrong: Record<string, unknown> = {}
  let count = 0
  for await (const cut of cuts) {
    count += 1
    try {
      judge(cut)
    } catch (error) {
      wrong[cut.place] = error instanceof Error ? error.message : error
    }
  }
  return count > 0 ? wrong : { nowhere: 'no session was cut' }
}

/** Judges a cut: the session that went on has the same account as the one that was left alone, and no problems. */
export const sameAccount =
  (account: (rows: readonly Recorded[]) => unknown) =>
  ({ place, whole, resumed }: CutSession): void => {
    expect(account(resumed), place).toEqual(account(whole))
    expect(wrongWith(resumed), place).toEqual([])
  }

/** The sessions of an agent that was left alone. */
async function wholeSessions(
  agent: Agent,
  talks: readonly (readonly Turn[])[],
  log: EventLog,
): Promise<readonly (readonly Recorded[])[]> {
  const own = bench([agent], { clock, seal, log })
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

function inputOf(turn: Turn, rows: readonly Recorded[]): RunInput {
  if ('say' in turn) {
    const content = { role: 'user', parts: [{ text: turn.say }] }
    return { messages: [{ id: `m${rows.length}`, role: 'user', content }] }
  }
  const payload: Json = turn.answer
  return { messages: [], resume: openQuestions(rows).map((interrupt) => ({ interrupt, status: 'resolved', payload })) }
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
