import { partsOf, responseOf, textOf } from '../../event/parts.ts'
import type { Recorded, RunEvent, StateChanged } from '../../event/run-event.ts'
import { isPartial } from '../../event/streaming.ts'
import { isObject } from '../../json/json.ts'

/** Something in the log that an answer may rest on. */
export interface Evidence {
  /**
   * `tool`: the result of a function; `data`: a record that an agent published; `specialist`: the result of an agent that
   * was called as a function, which is an agent's words, too; `state`: what a step of a graph wrote into the state, which
   * may be a model's words.
   */
  readonly kind: 'tool' | 'data' | 'specialist' | 'state' | 'agent' | 'person'
  /** The tool, the kind of record, the agent, the step, or `user`. */
  readonly name: string
  readonly run: string
  readonly seq: number
  /** The call that a tool's result answers. */
  readonly call?: string
  /** Text, or what the tool returned. */
  readonly value: unknown
}

/** At most so much is searched, the newest first. What is left out is counted, so that a page can say it. */
const mostEvidence = 5000

export interface EvidenceFound {
  readonly evidence: readonly Evidence[]
  /** Whether older evidence was left out. */
  readonly isCut: boolean
}

/**
 * What the log holds before an answer: results of tools, records, what steps of a graph wrote into the state, words of other
 * agents and of the person. The answer's own message, partials, thoughts and what a crash superseded are not evidence.
 */
export function evidenceBefore(
  rows: readonly Recorded[],
  answer: { readonly run: string; readonly seq: number; readonly message?: string },
): EvidenceFound {
  const gone = new Set<string>()
  const lost = new Map<string, number>()
  const speakers = new Set<string>()
  for (const { event, run, seq } of rows) {
    if (event.kind === 'agent') speakers.add(event.event.author)
    if (event.kind !== 'superseded') continue
    for (const message of event.messages) gone.add(message)
    if (event.facts === true) for (const node of event.nodes) lost.set(`${run}\n${node}`, seq)
  }
  const evidence: Evidence[] = []
  for (let i = rows.length - 1; i >= 0; i--) {
    const row = rows[i]
    if (row === undefined || row.seq >= answer.seq) continue
    if (row.event.kind === 'agent' && (gone.has(row.event.message) || row.event.message === answer.message)) continue
    if (isFactOf(row, lost)) continue
    evidence.push(...evidenceOf(row, speakers))
    if (evidence.length >= mostEvidence) return { evidence: evidence.slice(0, mostEvidence), isCut: i > 0 }
  }
  return { evidence, isCut: false }
}

const factKinds: ReadonlySet<string> = new Set(['data', 'artifact', 'task.finished', 'state'])

/** Whether a node recorded the row that ran again after it: the second attempt records its own facts (SPEC 4.6). */
function isFactOf({ run, seq, event }: Recorded, lost: ReadonlyMap<string, number>): boolean {
  if (!factKinds.has(event.kind) || !('node' in event)) return false
  return seq < (lost.get(`${run}\n${event.node}`) ?? 0)
}

function evidenceOf({ run, seq, event }: Recorded, speakers: ReadonlySet<string>): readonly Evidence[] {
  if (event.kind === 'run.started') return askedIn(run, seq, event)
  if (event.kind === 'state') return writtenIn(run, seq, event)
  if (event.kind === 'data') return [{ kind: 'data', name: event.itemType, run, seq, value: event.item }]
  // What the tasks of a plan gave: the result of a task is an agent's words, an artifact is a record.
  if (event.kind === 'task.finished') return [{ kind: 'agent', name: 'task', run, seq, value: event.result }]
  if (event.kind === 'artifact' && event.deleted !== true && event.part !== undefined)
    return [{ kind: 'data', name: event.name, run, seq, value: textOf(event.part) }]
  if (event.kind !== 'agent' || isPartial(event.event)) return []
  const { author, content } = event.event
  const made: Evidence[] = []
  let text = ''
  for (const part of partsOf(content)) {
    const response = responseOf(part)
    if (response !== undefined) {
      const { id, name } = response
      const kind = speakers.has(name) ? 'specialist' : 'tool'
      made.push({ kind, name, run, seq, ...(id === undefined ? {} : { call: id }), value: response.response })
    } else if (part.thought !== true) text += textOf(part)
  }
  if (text.trim() === '') return made
  return [...made, { kind: author === 'user' ? 'person' : 'agent', name: author, run, seq, value: text }]
}

/** A chat message in the state is the same words as that message in the conversation, which are evidence already. */
function writtenIn(run: string, seq: number, { node, patch }: StateChanged): readonly Evidence[] {
  if (node === undefined) return []
  const values = patch.flatMap((change) =>
    'value' in change && !isMessages(change.value) ? [[change.path.slice(1), change.value] as const] : [],
  )
  if (values.length === 0) return []
  return [{ kind: 'state', name: agentOfNode(node), run, seq, value: Object.fromEntries(values) }]
}

function isMessages(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every(isMessages)
  return isObject(value) && typeof value.type === 'string' && typeof value.id === 'string' && 'content' in value
}

/** `write@1/compose@2` is an execution of `compose`. */
function agentOfNode(node: string): string {
  return node.split('/').at(-1)?.replace(/@\d+$/, '') ?? node
}

function askedIn(run: string, seq: number, { input }: Extract<RunEvent, { kind: 'run.started' }>): readonly Evidence[] {
  return input.messages.map((message) => ({
    kind: 'person',
    name: 'user',
    run,
    seq,
    value: partsOf(message.content).map(textOf).join(''),
  }))
}
