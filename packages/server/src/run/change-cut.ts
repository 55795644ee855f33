import {
  type AdkPart,
  type Changed,
  type ChangeOfPrompt,
  type ChangeOfState,
  type ChangeOfTool,
  defined,
  type InputMessage,
  isPartial,
  type Json,
  MillraceError,
  type NodeId,
  nodePath,
  type Recorded,
  type RunInput,
} from '@millrace/core'

/** Where a run is cut so that it goes on with a change. */
export interface RunCut {
  /** The last row that is reused. */
  readonly seq: number
  /** The row of the changed step. */
  readonly step: number
  /** What the record of the change says of the step. */
  readonly about: Pick<Changed, 'agent' | 'node' | 'call' | 'name' | 'before'>
  /** The call whose result is changed: it is neither reused nor made again. */
  readonly changed?: string
  /** Model calls that its step makes again before the one with the changed request. */
  readonly earlier?: number
}

/** The input with another text in the place of what the user said. Files stay. */
export function changedMessage(input: RunInput, text: string): { readonly input: RunInput; readonly before: string } {
  const at = input.messages.findLastIndex(isSaid)
  const message = input.messages[at]
  if (message === undefined)
    throw new MillraceError(
      'conflict',
      'this run began with an answer to a question, not with a message, so there is no text to change',
    )
  const parts = message.content.parts ?? []
  const before = parts.flatMap((part) => part.text ?? []).join('')
  const first = parts.findIndex(isText)
  const others = parts.filter((part) => !isText(part))
  const changed = [...others.slice(0, first), { text }, ...others.slice(first)]
  const messages = input.messages.with(at, { ...message, content: { ...message.content, parts: changed } })
  return { input: { ...input, messages }, before }
}

const isText = (part: AdkPart): boolean => part.text !== undefined

function isSaid({ role, content }: InputMessage): boolean {
  return role === 'user' && (content.parts ?? []).some(isText)
}

/** The state changes after this row. At the end of a run nothing is left to run. */
export function cutForState(rows: readonly Recorded[], { seq }: ChangeOfState): RunCut {
  const first = rows[0]?.seq ?? 0
  const last = rows.at(-1)
  if (seq < first || seq > (last?.seq ?? 0))
    throw new MillraceError('invalid', `the run has no row ${seq}; it has the rows ${first} to ${last?.seq ?? 0}`)
  if (last?.event.kind === 'run.finished' && seq >= last.seq)
    throw new MillraceError(
      'conflict',
      'the run has ended here, so nothing would run; choose an earlier step, or send a message',
    )
  return { seq: withEnd(rows, seq), step: seq, about: {} }
}

/**
 * A call that has ended at this row has its last records in the rows right behind it: the end of a model call after its
 * message, the result of a tool after its end. They are reused too, or else the call would be made again, or have no figures.
 */
function withEnd(rows: readonly Recorded[], seq: number): number {
  let at = rows.findLastIndex((row) => row.seq <= seq)
  const ended: string[] = []
  for (; ; at++) {
    const [event, next] = [rows[at]?.event, rows[at + 1]?.event]
    if (event?.kind === 'tool.finished') ended.push(event.call)
    const isEnd =
      next?.kind === 'model.finished'
        ? event?.kind === 'agent' && !isPartial(event.event) && next.messages?.includes(event.message) === true
        : event?.kind === 'tool.finished' &&
          (next?.kind === 'tool.finished' ||
            (next?.kind === 'agent' && ended.some((call) => resultOf(next.event, call) !== undefined)))
    if (!isEnd) return Math.max(seq, rows[at]?.seq ?? seq)
  }
}

/**
 * The result is the last row that is reused. Where steps of a graph run whole, the cut is at the end of the step that ran
 * the tool, because the graph has the result only then.
 */
export function cutForTool(rows: readonly Recorded[], { call }: ChangeOfTool, byStep: boolean): RunCut {
  const row = rows.find(({ event }) => event.kind === 'agent' && resultOf(event.event, call) !== undefined)
  if (row?.event.kind !== 'agent') {
    const isCalled = rows.some(({ event }) => event.kind === 'agent' && isCallOf(event.event, call))
    throw new MillraceError(
      isCalled ? 'conflict' : 'not-found',
      isCalled
        ? 'the agent has got no result of this call in this run, so there is none to change'
        : `the run has no tool call ${call}`,
    )
  }
  const { event, node } = row.event
  const result = resultOf(event, call)
  const about = defined({ agent: event.author, node, call, name: result?.name, before: result?.response as Json })
  if (!byStep) return { seq: row.seq, step: row.seq, about, changed: call }
  const end = rows.find(({ seq, event: each }) => seq > row.seq && each.kind === 'node.finished' && each.node === node)
  if (node === undefined || end === undefined)
    throw new MillraceError(
      'conflict',
      'the step of the graph that ran this tool did not end, so it runs whole or not at all; change the state before it instead',
    )
  if (nodePath(node).includes('/'))
    throw new MillraceError(
      'conflict',
      'this tool ran in a graph inside another, whose messages cannot be changed from outside; change the message or the state instead',
    )
  const next = rows.find(
    ({ seq, event: each }) => seq > end.seq && (isOuterStart(each) || each.kind === 'run.finished'),
  )
  return {
    seq: next === undefined ? (rows.at(-1)?.seq ?? 0) : before(rows, next.seq),
    step: row.seq,
    about,
    changed: call,
  }
}

/** The call is made again with another request; what came before it stays. A step of a graph runs again from its start. */
export function cutForPrompt(rows: readonly Recorded[], { call }: ChangeOfPrompt, byStep: boolean): RunCut {
  const row = rows.find(({ event }) => event.kind === 'model.started' && event.call === call)
  if (row?.event.kind !== 'model.started') throw new MillraceError('not-found', `the run has no model call ${call}`)
  const { agent, node, request } = row.event
  if (request === undefined || request.omitted !== undefined)
    throw new MillraceError(
      'conflict',
      'the request of this model call was not recorded, so it cannot be changed; change the message or the state instead',
    )
  const about = defined({ agent, node, call })
  if (!byStep) return { seq: before(rows, row.seq), step: row.seq, about }
  const start = startOf(rows, node)
  if (start === undefined)
    throw new MillraceError(
      'conflict',
      'this model call belongs to no step of the graph, so the graph cannot go on before it',
    )
  const earlier = rows.filter(
    ({ seq, event }) => seq < row.seq && event.kind === 'model.started' && event.node === node,
  ).length
  return { seq: before(rows, start.seq), step: row.seq, about, earlier }
}

function startOf(rows: readonly Recorded[], node: NodeId | undefined): Recorded | undefined {
  return rows.find(({ event }) => event.kind === 'node.started' && event.node === node)
}

function before(rows: readonly Recorded[], seq: number): number {
  return rows.findLast((row) => row.seq < seq)?.seq ?? seq - 1
}

function isOuterStart(event: Recorded['event']): boolean {
  return event.kind === 'node.started' && !nodePath(event.node).includes('/')
}

type Said = Extract<Recorded['event'], { kind: 'agent' }>['event']

function resultOf(event: Said, call: string) {
  if (isPartial(event)) return undefined
  return (event.content?.parts ?? []).find(({ functionResponse }) => functionResponse?.id === call)?.functionResponse
}

function isCallOf(event: Said, call: string): boolean {
  return (event.content?.parts ?? []).some(({ functionCall }) => functionCall?.id === call)
}
