import {
  type Calls,
  type ChangedStep,
  type Costs,
  defined,
  type Item,
  itemsOf,
  type JsonObject,
  type Message,
  runWord,
  type SessionState,
  stateAt,
  type Transcript,
  type Usage,
  type UsageReport,
} from '@millrace/core'
import { isAskingCall, runsWithQuestion, visibleParts } from '../conversation/visible-parts.ts'
import type { CutEnd } from '../session/runs.ts'
import { duration } from '../ui/duration.ts'
import { messagesOf } from './align.ts'
import { type Happened, happenedIn } from './divergence.ts'

/** The views of one side's session. */
export interface SideViews {
  readonly transcript: Transcript
  readonly usage: UsageReport
  readonly calls: Calls
  readonly state: SessionState
  readonly cuts: ReadonlyMap<number, CutEnd>
}

/** What one side has, for figures and for the search of the first divergence. */
export interface SideFacts {
  readonly messages: readonly Message[]
  readonly happened: readonly Happened[]
  readonly state: JsonObject
  readonly outcome: string
  /** What a person changed before it went on. */
  readonly changes: readonly ChangedStep[]
  /** When it began, in ms. */
  readonly at: number | undefined
  /** What the agents worked, in ms. */
  readonly time: number
  readonly usage: Usage
  readonly costs: Costs
  readonly modelCalls: number | undefined
  readonly toolCalls: number
  readonly tools: ReadonlyMap<string, number>
}

/** The facts of a session, or of one of its runs. */
export function sideFacts({ transcript, usage, calls, state, cuts }: SideViews, run: string | undefined): SideFacts {
  const items = itemsOf(transcript).filter((item) => run === undefined || item.run === run)
  const asked = runsWithQuestion(items)
  const said = messagesOf(items).filter((item) => !isAskingCall(item, asked))
  const messages = said.filter(({ superseded }) => superseded !== true)
  const tools = new Map<string, number>()
  for (const message of messages)
    for (const part of visibleParts(message))
      if (part.kind === 'tool') tools.set(part.name, (tools.get(part.name) ?? 0) + 1)
  const ends = items.filter((item): item is Extract<Item, { kind: 'end' }> => item.kind === 'end')
  const own = run === undefined ? usage : usage.runs.toArray().find((each) => each.run === run)
  const used: Usage = own === undefined ? {} : 'total' in own ? own.total : own.usage
  const end = ends.at(-1)
  const latest = run === undefined ? transcript.latest?.status : undefined
  return {
    messages,
    happened: happenedIn(said, calls, run),
    state: run === undefined || end === undefined ? state.current : stateAt(state, end.seq),
    changes: items.filter((item) => item.kind === 'changed'),
    outcome: runWord(latest ?? end?.outcome ?? 'running', end?.error?.code),
    at: items[0]?.at,
    time: ends.reduce((sum, { seq, duration: took = 0 }) => sum + (cuts.get(seq)?.worked ?? took), 0),
    usage: used,
    costs: own?.costs ?? [],
    modelCalls: used.modelCalls,
    toolCalls: [...tools.values()].reduce((sum, count) => sum + count, 0),
    tools,
  }
}

/** One figure of several sides: a text for each of them, and how much more it is than on the first. */
export interface Figure {
  readonly name: string
  readonly values: readonly { readonly text: string; readonly delta?: string }[]
}

const missing = 'not reported'
const plain = (count: number): string => count.toLocaleString('en')

/** The figures that every comparison has, in the order in which a person asks for them. */
export function figuresOf(sides: readonly SideFacts[]): readonly Figure[] {
  const number = (name: string, of: (side: SideFacts) => number | undefined, print = plain): Figure => {
    const first = sides[0] === undefined ? undefined : of(sides[0])
    const values = sides.map((side) => {
      const value = of(side)
      const by = value === undefined || first === undefined ? 0 : value - first
      const delta = by === 0 ? undefined : `${by > 0 ? '+' : '−'}${print(Math.abs(by))}`
      return defined({ text: value === undefined ? missing : print(value), delta })
    })
    return { name, values }
  }
  const currencies = [...new Set(sides.flatMap(({ costs }) => costs.map(({ currency }) => currency)))]
  return [
    { name: 'Outcome', values: sides.map(({ outcome }) => ({ text: outcome })) },
    number('Run time', ({ time }) => time, duration),
    number('Input tokens', ({ usage }) => usage.inputTokens),
    number('Output tokens', ({ usage }) => usage.outputTokens),
    ...currencies.map((currency) =>
      number(`Cost (${currency})`, ({ costs }) => costs.find((cost) => cost.currency === currency)?.amount, money),
    ),
    number('Model calls', ({ modelCalls }) => modelCalls),
    number('Tool calls', ({ toolCalls }) => toolCalls),
    number('Messages', ({ messages }) => messages.length),
  ]
}

/** How often each tool was called, where that differs or there are few. */
export function toolFigures(sides: readonly SideFacts[]): readonly Figure[] {
  const names = [...new Set(sides.flatMap(({ tools }) => [...tools.keys()]))].sort()
  return names.map((name) => ({
    name,
    values: sides.map(({ tools }) => ({
      text: (tools.get(name) ?? 0) === 1 ? '1 call' : `${tools.get(name) ?? 0} calls`,
    })),
  }))
}

const money = (amount: number): string => amount.toLocaleString('en', { maximumSignificantDigits: 4 })
