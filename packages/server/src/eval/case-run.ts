import { randomBytes } from 'node:crypto'
import { dirname, resolve } from 'node:path'
import {
  addUsage,
  costOf,
  defined,
  type InputMessage,
  type Interrupted,
  isObject,
  type Json,
  MillraceError,
  memoryLog,
  type Recorded,
  type RunInput,
  type Usage,
  usageOf,
} from '@millrace/core'
import type { Agent } from '../agent/agent.ts'
import { loadModule } from '../agent/agent-file.ts'
import type { ModelTape } from '../agent/model/tape.ts'
import { messageOf } from '../agent/problem.ts'
import { recordSeal } from '../agent/record-seal.ts'
import { runEngine } from '../run/engine.ts'
import { type AnswerTape, answerTape } from './answer-tape.ts'
import { type CaseFacts, endState, turnFacts } from './case-facts.ts'
import type { CaseTurn, RecordedAnswer, RecordedCase } from './case-file.ts'
import { type CaseFinding, judgeFacts, onlyKeysOf } from './case-judge.ts'
import { openingState } from './run-case.ts'

/** A tape whose recording changes from case to case: agents are opened once, with this one. */
export interface CaseTape extends ModelTape {
  current: ModelTape | undefined
}

export function caseTape(): CaseTape {
  return {
    current: undefined,
    play(call) {
      return this.current?.play(call)
    },
    keep(call, answer) {
      this.current?.keep(call, answer)
    },
  }
}

export interface CaseSetting {
  readonly agent: (name: string) => Agent | undefined
  /** The tape that the agents were opened with. */
  readonly tape: CaseTape
  /** Milliseconds, for the time that a case takes. */
  readonly elapsed: () => number
  /** Calls the models instead of playing the recorded answers. */
  readonly live?: boolean
  /** The file of the case: its assertions are beside it. */
  readonly file?: string
  /** Cancels the run of the case. */
  readonly signal?: AbortSignal
  /** Asked when a run ends with questions and the case has no answer: the answer, or undefined to go on without one. */
  readonly answer?: (questions: readonly Interrupted[]) => Promise<Json | undefined>
}

export interface CaseVerdict {
  readonly findings: readonly CaseFinding[]
  readonly facts: CaseFacts
  /** The turns of the case, and the answers that were given on the way. */
  readonly turns: readonly CaseTurn[]
  /** What the models answered in this run. */
  readonly answers: Readonly<Record<string, readonly RecordedAnswer[]>>
  /** Model calls that no recording can play, because the tape does not reach the chat model. */
  readonly unplayable: number
}

/** The session of a case: the same ids and times in every run, because models may be sent them. */
const session = 'case'
const user = 'user'
const firstMoment = Date.UTC(2026, 0, 1)

/** Runs a case in a log of its own and judges what its agents did. */
export async function runRecordedCase(one: RecordedCase, setting: CaseSetting): Promise<CaseVerdict> {
  const { tape, live = false } = setting
  if (!live && one.answers === undefined)
    throw new MillraceError('invalid', 'has no recorded answers: run it with --live, or record it with millrace record')
  const answers = answerTape(live ? undefined : one.answers)
  tape.current = answers
  const begun = setting.elapsed()
  try {
    const { rows, turns } = await played(one, setting)
    const facts = factsOf(rows, answers, (setting.elapsed() - begun) / 1000)
    const findings = [
      ...judgeFacts(one, facts, live),
      ...(live || one.judge.requests !== true
        ? []
        : answers.differences().map((message) => ({ judge: 'requests' as const, message }))),
      ...(await assertionFindings(one, facts, setting.file)),
    ]
    const made = rows.filter(({ event }) => event.kind === 'model.started').length
    const unplayable = Math.max(0, made - answers.calls())
    return { findings, facts, turns, answers: answers.answers(), unplayable }
  } finally {
    tape.current = undefined
  }
}

/** Says what the user of the case said, turn by turn. A turn that failed is the last. */
async function played(
  one: RecordedCase,
  { agent, signal, answer }: CaseSetting,
): Promise<Pick<CaseFacts, 'rows'> & Pick<CaseVerdict, 'turns'>> {
  let moment = firstMoment
  let ids = 0
  const now = (): number => {
    moment += 1
    return moment
  }
  const newId = (): string => {
    ids += 1
    return `id-${ids}`
  }
  const log = memoryLog(now)
  const engine = runEngine({ log, agents: agent, now, newId, owner: 'case', seal: recordSeal(randomBytes(32)) })
  const stop = (): void => void engine.cancel(session)
  signal?.addEventListener('abort', stop)
  try {
    await log.create({ id: session, user, agent: one.agent, title: one.description ?? one.agent })
    const opening = openingState(one.begin ?? {})
    if (opening !== undefined) await log.append(session, [{ run: '', event: opening }])
    const turns: CaseTurn[] = []
    const left = [...one.turns]
    for (let turn = left.shift(); turn !== undefined && signal?.aborted !== true; turn = left.shift()) {
      turns.push(turn)
      const input = inputOf(turn, openQuestions(await log.read(session, { after: 0 })), newId)
      const { run } = await engine.start({ session, user, agent: one.agent, input })
      const outcome = await engine.wait(session, run)
      if (outcome !== 'done' && outcome !== 'interrupted') break
      if (outcome === 'done' || answer === undefined || left[0]?.answer !== undefined) continue
      const given = await answer(openQuestions(await log.read(session, { after: 0 })))
      if (given !== undefined) left.unshift({ answer: given })
    }
    return { rows: await log.read(session, { after: 0 }), turns }
  } finally {
    signal?.removeEventListener('abort', stop)
    await engine.shutdown(0)
    await log.close()
  }
}

function openQuestions(rows: readonly Recorded[]): readonly Interrupted[] {
  const answered = new Set(rows.flatMap(({ event }) => (event.kind === 'resumed' ? [event.interrupt] : [])))
  return rows.flatMap(({ event }) => (event.kind === 'interrupt' && !answered.has(event.id) ? [event] : []))
}

function inputOf(
  { user: text, parts, answer, props }: CaseTurn,
  open: readonly Interrupted[],
  newId: () => string,
): RunInput {
  const said = parts ?? (text === undefined ? undefined : [{ text }])
  const message = said === undefined ? [] : [{ id: newId(), role: 'user', content: { role: 'user', parts: said } }]
  const resume = open.map(({ id: interrupt }) =>
    answer === null
      ? { interrupt, status: 'cancelled' as const }
      : { interrupt, status: 'resolved' as const, ...defined({ payload: answer }) },
  )
  return {
    messages: message as readonly InputMessage[],
    ...(answer === undefined || resume.length === 0 ? {} : { resume }),
    ...defined({ props }),
  }
}

function factsOf(rows: readonly Recorded[], tape: AnswerTape, seconds: number): CaseFacts {
  const runs = [...new Set(rows.flatMap(({ run, event }) => (event.kind === 'run.started' ? [run] : [])))]
  const answers = Object.values(tape.answers()).flat()
  const used: readonly (readonly [string, Usage])[] = answers.map(({ model = '', usage }) => [
    model,
    usageOf(usage) ?? {},
  ])
  const costs = used.map(([model, usage]) => costOf(model, usage)?.amount)
  const total = used.reduce<Usage>((sum, [, usage]) => addUsage(sum, usage), {})
  return {
    turns: runs.map((run) => turnFacts(rows.filter((row) => row.run === run))),
    state: endState(rows),
    tokens: total.totalTokens ?? 0,
    calls: answers.length,
    ...(costs.includes(undefined) ? {} : { cost: costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0) }),
    seconds,
    rows,
  }
}

/** An assertion returns nothing, a sentence or several that say what is wrong, or throws. */
async function assertionFindings(
  { judge }: RecordedCase,
  facts: CaseFacts,
  file: string | undefined,
): Promise<readonly CaseFinding[]> {
  if (judge.assert === undefined) return []
  const path = resolve(dirname(file ?? '.'), judge.assert)
  try {
    const loaded: unknown = await loadModule(path)
    const check: unknown = isObject(loaded) ? loaded.default : undefined
    if (typeof check !== 'function')
      return [{ judge: 'assert', message: `${judge.assert} exports no default function` }]
    const said: unknown = await check(facts)
    const sentences = Array.isArray(said) ? said : [said]
    return sentences.filter((one) => typeof one === 'string').map((message) => ({ judge: 'assert', message }))
  } catch (error) {
    return [{ judge: 'assert', message: `${judge.assert}: ${messageOf(error)}` }]
  }
}

/** The case as this run would have it: what it said, which tools it called, and the state at its end. */
export function recordedAs(
  one: RecordedCase,
  { facts, turns, answers }: Pick<CaseVerdict, 'facts' | 'turns' | 'answers'>,
): RecordedCase {
  return {
    ...one,
    turns: [...turns, ...one.turns.slice(turns.length)].map((turn, i) => {
      const made = facts.turns[i]
      if (made === undefined) return turn
      const { outcome, tools, response } = made
      return { ...turn, expect: { outcome, tools, response } }
    }),
    ...(one.judge.state === true ? { state: facts.state } : {}),
    ...(one.judge.state === 'named' ? { state: onlyKeysOf(facts.state, one.state ?? {}) } : {}),
    answers,
  }
}
