import { diffState, type JsonObject } from '@millrace/core'
import { z } from 'zod'
import { keysSorted } from '../agent/model/tape.ts'
import type { CaseFacts, TurnFacts } from './case-facts.ts'
import type { CaseJudge, CaseTurn, ExpectedTool, RecordedCase, ResponseJudge, TrajectoryMatch } from './case-file.ts'
import type { MatchType } from './eval-set.ts'
import { unsupportedFigures } from './figures.ts'
import { rouge1 } from './rouge.ts'
import { withSteadyIds } from './steady-ids.ts'
import { trajectoryScore } from './trajectory.ts'

/** One thing that a run did otherwise than its case says. */
export interface CaseFinding {
  readonly judge: 'outcome' | keyof CaseJudge
  /** From 1; absent for what is about the whole case. */
  readonly turn?: number
  readonly message: string
}

const matchTypes: Readonly<Record<TrajectoryMatch, MatchType>> = {
  exact: 'EXACT',
  'in-order': 'IN_ORDER',
  'any-order': 'ANY_ORDER',
}

/** ROUGE-1 that a live response must reach where the case asks for the same text: ADK's own default. */
const liveScore = 0.8

/** Judges everything but assertion files and the requests of models. `live`: the models answered anew. */
export function judgeFacts(one: RecordedCase, facts: CaseFacts, live: boolean): readonly CaseFinding[] {
  const found: CaseFinding[] = []
  one.turns.forEach((turn, i) => {
    const made = facts.turns[i]
    const add = (judge: CaseFinding['judge'], message: string): void => void found.push({ judge, turn: i + 1, message })
    if (made === undefined) add('outcome', 'was not reached, because the turn before it failed')
    else judgeTurn(one.judge, turn, made, live, userWords(one, i), add)
  })
  if (one.judge.state === true) found.push(...stateFindings(one.state ?? {}, facts.state, live))
  if (one.judge.state === 'named') {
    const wanted = one.state ?? {}
    found.push(...stateFindings(wanted, onlyKeysOf(facts.state, wanted), false))
  }
  found.push(...budgetFindings(one.judge, facts))
  return found
}

function judgeTurn(
  judge: CaseJudge,
  { expect = {} }: CaseTurn,
  made: TurnFacts,
  live: boolean,
  words: readonly string[],
  add: (judge: CaseFinding['judge'], message: string) => void,
): void {
  const { outcome = 'done', tools, response } = expect
  if (made.outcome !== outcome) {
    const why = made.error === undefined ? '' : `: ${made.error.message}`
    add('outcome', `the run ended as ${made.outcome}, expected ${outcome}${why}`)
  }
  if (judge.trajectory !== undefined && tools !== undefined) {
    const why = trajectoryFinding(judge.trajectory, made.tools, tools)
    if (why !== undefined) add('trajectory', why)
  }
  for (const why of responseFindings(judge.response ?? {}, made.response, response, live)) add('response', why)
  if (judge.figures === true) {
    const missing = unsupportedFigures(made.response, [...made.results, ...words])
    if (missing.length > 0) add('figures', `no tool answered with ${missing.join(', ')}`)
  }
}

/** What the user said up to this turn: a response may repeat its figures. */
function userWords({ turns }: RecordedCase, last: number): readonly string[] {
  return turns.slice(0, last + 1).map(({ user, parts, answer }) => JSON.stringify([user, parts, answer]))
}

function trajectoryFinding(
  match: TrajectoryMatch,
  made: TurnFacts['tools'],
  wanted: readonly ExpectedTool[],
): string | undefined {
  const named = wanted.some(({ by }) => by !== undefined)
  const actual = named ? made : made.filter(({ nested }) => nested !== true)
  const use = ({ by = '', name, args }: ExpectedTool) => ({ name: named ? `${by} ${name}` : name, args })
  if (trajectoryScore(actual.map(use), wanted.map(use), matchTypes[match]) === 1) return undefined
  const show = ({ by, ...call }: ExpectedTool): string => shown(named && by !== undefined ? { by, ...call } : call)
  const [did, should] = [actual.map(show), wanted.map(show)]
  if (did.length === should.length && [...did].sort().join('\n') === [...should].sort().join('\n'))
    return `the same tools were called in another order: ${did.join(', ')}; expected ${should.join(', ')}`
  const at = should.findIndex((call, i) => call !== did[i])
  if (at < 0) return `called ${did[should.length]}, which is not expected`
  return `call ${at + 1} was ${did[at] ?? 'not made'}, expected ${should[at]}`
}

const shown = ({ by, name, args }: ExpectedTool): string =>
  `${by === undefined ? '' : `${by} → `}${name}(${short(JSON.stringify(keysSorted(args)))})`

function responseFindings(
  { text, rouge1: score, contains = [], json }: ResponseJudge,
  said: string,
  wanted: string | undefined,
  live: boolean,
): readonly string[] {
  const found: string[] = []
  if (text === true && !live && wanted !== undefined && said !== wanted) found.push(textFinding(said, wanted))
  const needed = score ?? (text === true && live ? liveScore : undefined)
  // ROUGE-1 of two empty texts is 0.
  if (needed !== undefined && wanted !== undefined && said !== wanted) {
    const reached = rouge1(said, wanted)
    if (reached < needed) found.push(`ROUGE-1 is ${reached.toFixed(2)}, expected ${needed} or more`)
  }
  for (const part of contains) if (!said.includes(part)) found.push(`does not contain “${short(part)}”`)
  if (json !== undefined) found.push(...jsonFindings(said, json))
  return found
}

/** Names the first line that differs. */
function textFinding(said: string, wanted: string): string {
  const [a, b] = [said.split('\n'), wanted.split('\n')]
  const at = b.findIndex((line, i) => line !== a[i])
  if (at < 0) return `has more lines than expected: “${short(a[b.length] ?? '')}”`
  return `line ${at + 1} is “${short(a[at] ?? '')}”, expected “${short(b[at] ?? '')}”`
}

function jsonFindings(said: string, schema: JsonObject): readonly string[] {
  const fenced = /^\s*```(?:json)?\n([\s\S]*?)```\s*$/.exec(said)?.[1] ?? said
  let value: unknown
  try {
    value = JSON.parse(fenced)
  } catch {
    return ['is not JSON']
  }
  const read = z.fromJSONSchema(schema as never).safeParse(value)
  return (read.error?.issues ?? []).map(({ path, message }) => `${path.join('.') || 'the JSON'}: ${message}`)
}

/** The part of a state whose keys are those of another. */
export function onlyKeysOf(state: JsonObject, named: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(state).filter(([key]) => Object.hasOwn(named, key)))
}

function stateFindings(wanted: JsonObject, state: JsonObject, live: boolean): readonly CaseFinding[] {
  const changes = diffState(withSteadyIds(wanted), withSteadyIds(state)).filter(
    ({ kind }) => !live || kind !== 'changed',
  )
  return changes.slice(0, 10).map(({ path, kind, before, after }) => ({
    judge: 'state',
    message:
      kind === 'added'
        ? `${path} is new: ${short(JSON.stringify(after))}`
        : kind === 'removed'
          ? `${path} is missing`
          : `${path} is ${short(JSON.stringify(after))}, expected ${short(JSON.stringify(before))}`,
  }))
}

function budgetFindings({ budget = {} }: CaseJudge, facts: CaseFacts): readonly CaseFinding[] {
  const over = (
    what: string,
    spent: number | undefined,
    most: number | undefined,
    unit: string,
  ): readonly CaseFinding[] => {
    if (most === undefined) return []
    if (spent === undefined)
      return [{ judge: 'budget', message: `the ${what} is not known: the model has no known price` }]
    const figure = Number(spent.toPrecision(4))
    return spent > most ? [{ judge: 'budget', message: `${what}: ${figure}${unit}, the budget is ${most}${unit}` }] : []
  }
  return [
    ...over('time', facts.seconds, budget.seconds, ' s'),
    ...over('tokens', facts.tokens, budget.tokens, ''),
    ...over('model calls', facts.calls, budget.calls, ''),
    ...over('cost', facts.cost, budget.cost, ' $'),
  ]
}

const short = (text: string): string => (text.length <= 120 ? text : `${text.slice(0, 119)}…`)
