import {
  type Call,
  type Calls,
  type Json,
  type JsonObject,
  type Message,
  modelAnswersOf,
  type ToolCard,
} from '@millrace/core'

/** Something that happened in a run: a message of the user, a model call with its answer, a tool call with its result. */
export interface Happened {
  readonly kind: 'message' | 'model' | 'tool'
  readonly agent: string
  /** The name of the tool; '' for the others. */
  readonly name: string
  readonly seq: number
  /** Equal things have equal contents. */
  readonly content: string
}

/** Where two runs part, and its name: "burn_analyst’s second model call". */
export interface Divergence {
  readonly name: string
  /** Its place on the left side, or on the right one where the left has nothing there. */
  readonly seq: number
  readonly side: 'left' | 'right'
}

const ordinals = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth']

/**
 * The first thing of the left side that the right side has otherwise or not at all; else the first that only the right
 * side has. Things of one agent are compared in their order, because agents that work at the same time have none.
 */
export function firstDivergence(left: readonly Happened[], right: readonly Happened[]): Divergence | undefined {
  const [mine, theirs] = [numbered(left), numbered(right)]
  for (const [key, { one, number }] of mine) {
    const other = theirs.get(key)?.one
    if (other?.content !== one.content) return { name: nameOf(one, number), seq: one.seq, side: 'left' }
  }
  for (const [key, { one, number }] of theirs)
    if (!mine.has(key)) return { name: nameOf(one, number), seq: one.seq, side: 'right' }
  return undefined
}

type Numbered = ReadonlyMap<string, { readonly one: Happened; readonly number: number }>

function numbered(all: readonly Happened[]): Numbered {
  const counts = new Map<string, number>()
  return new Map(
    all.map((one) => {
      const group = JSON.stringify([one.kind, one.agent, one.name])
      const number = (counts.get(group) ?? 0) + 1
      counts.set(group, number)
      return [`${group} ${number}`, { one, number }]
    }),
  )
}

function nameOf({ kind, agent, name }: Happened, number: number): string {
  const which = ordinals[number - 1] ?? `${number}${endingOf(number)}`
  if (kind === 'message') return agent === 'user' ? `your ${which} message` : `${agent}’s ${which} message`
  return kind === 'model' ? `${agent}’s ${which} model call` : `${agent}’s ${which} call of ${name}`
}

/** 21st, 22nd, 23rd, 111th. */
function endingOf(number: number): string {
  if (Math.floor(number / 10) % 10 === 1) return 'th'
  return ['th', 'st', 'nd', 'rd'][number % 10] ?? 'th'
}

/** A content never changes, so it is printed once, although a session that runs is compared many times. */
const printed = new WeakMap<object, string>()

function print(content: Json): string {
  if (typeof content !== 'object' || content === null) return JSON.stringify(content)
  const known = printed.get(content)
  if (known !== undefined) return known
  const made = JSON.stringify(withoutIds(content))
  printed.set(content, made)
  return made
}

/** What happened, in the order of the log. Where no model call is recorded, the messages of the agents are compared. */
export function happenedIn(messages: readonly Message[], calls: Calls, run: string | undefined): readonly Happened[] {
  const isOf = (each: { readonly run: string }): boolean => run === undefined || each.run === run
  const lost = new Set(messages.flatMap(({ superseded, run: of, id }) => (superseded === true ? [`${of} ${id}`] : [])))
  // A step that ran again made its calls again: the first attempt is not what happened.
  const isLost = ({ run: of, messages: ids = [] }: Call): boolean =>
    ids.length > 0 && ids.every((id) => lost.has(`${of} ${id}`))
  const models = calls.calls
    .toArray()
    .filter((call) => call.kind === 'model' && call.status !== 'cut' && isOf(call) && !isLost(call))
  const asked = models.map((call): Happened => {
    return {
      kind: 'model',
      agent: call.agent,
      name: '',
      seq: call.startSeq,
      content: modelAnswersOf(calls, call).map(print).join(),
    }
  })
  const said = messages
    .filter((message) => isOf(message) && message.superseded !== true)
    .flatMap((message): readonly Happened[] => {
      const isWords = message.role === 'user' || models.length === 0
      const agent = message.role === 'user' ? 'user' : message.author
      const words: Happened = { kind: 'message', agent, name: '', seq: message.seq, content: message.text.trim() }
      const cards = message.parts.flatMap((part) => (part.kind === 'tool' ? [part] : []))
      const isSpoken = isWords && (message.text.trim() !== '' || cards.length === 0)
      return [...(isSpoken ? [words] : []), ...cards.map((card) => toolCall(card, message.author))]
    })
  return [...asked, ...said].sort((a, b) => a.seq - b.seq)
}

function toolCall({ name, args, result, error, endSeq, seq }: ToolCard, agent: string): Happened {
  return { kind: 'tool', agent, name, seq: endSeq ?? seq, content: JSON.stringify([args, result, error]) }
}

/** Ids of calls differ each time. */
function withoutIds(content: Json): Json {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return content
  const { parts } = content as JsonObject
  if (!Array.isArray(parts)) return content
  return (parts as readonly Json[]).map((part) => {
    if (typeof part !== 'object' || part === null) return part
    const { functionCall, text, thought } = part as JsonObject
    if (typeof functionCall !== 'object' || functionCall === null) return [text ?? null, thought ?? false]
    const { name, args } = functionCall as JsonObject
    return [name ?? null, args ?? null]
  }) as unknown as Json
}
