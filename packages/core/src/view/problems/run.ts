import type {
  NodeFinished,
  NodeId,
  NodeStarted,
  Outcome,
  RunEvent,
  RunFinished,
  RunStarted,
  Superseded,
} from '../../event/run-event.ts'
import { type CallTrack, type NodeTrack, newRun } from './state.ts'
import { addProblem, follows, followsAll, mostIds, quoted, type Step } from './step.ts'

export function lintStart(step: Step, { input }: RunStarted): void {
  const { run, row } = step
  if (run.started !== undefined) {
    addProblem(step, 'run-repeated', `The run ${quoted(row.run)} has started before.`, { earlier: run.started })
    return
  }
  const tools: unknown = input?.tools
  const names = Array.isArray(tools) ? tools.map((tool: { readonly name?: unknown } | null) => String(tool?.name)) : []
  run.started = row.seq
  if (names.length > 0) run.clientTools = new Set(names)
}

/** The run has ended: what is open now will not be closed any more. */
export function lintEnd(step: Step, { outcome, error }: RunFinished): void {
  const { run, row } = step
  if (run.ended !== undefined) {
    addProblem(step, 'second-end', `The run ${quoted(row.run)} has ended before.`, { earlier: run.ended })
    return
  }
  if (outcome === 'done') lintLeftOpen(step)
  if (error?.code === 'cut')
    addProblem(step, 'no-end', `The stream stopped before the run ${quoted(row.run)} had ended.`)
  leavePending(step, outcome)
  const { started, early, last, time } = step.run
  step.run = { ...newRun, ...(started === undefined ? {} : { started }), early, last, time, ended: row.seq }
}

/** Only a run that is done must have closed everything: a failed or stopped one has a reason not to. */
function lintLeftOpen(step: Step): void {
  const { calls, nodes, messages, clientTools } = step.run
  const open: { readonly seq: number; readonly add: () => void }[] = []
  for (const [id, call] of calls) {
    if (!isOpen(call) || call.longRunning || call.streamed || clientTools.has(call.name)) continue
    const facts = id.startsWith('\n') ? { seq: call.seq } : { seq: call.seq, call: id }
    const sentence = `The call of ${quoted(call.name)} was never answered.`
    open.push({ seq: call.seq, add: () => addProblem(step, 'call-unanswered', sentence, facts) })
  }
  for (const [node, { seq, ended, unknown }] of nodes) {
    if (ended !== undefined || unknown) continue
    const sentence = `The node ${quoted(node)} never ended.`
    open.push({ seq, add: () => addProblem(step, 'node-not-ended', sentence, { seq, node }) })
  }
  for (const [message, { seq, whole, text }] of messages) {
    if (whole !== undefined || text === '') continue
    const sentence = `The message ${quoted(message)} was never completed.`
    open.push({ seq, add: () => addProblem(step, 'text-not-closed', sentence, { seq }) })
  }
  for (const { add } of open.sort((a, b) => a.seq - b.seq)) add()
}

function isOpen(call: CallTrack): boolean {
  return call.waiting === undefined ? call.answered === undefined : call.waiting > 0
}

/** Calls that a later run may answer: those left open, long-running ones, and all of a run that waits for a person. */
function leavePending(step: Step, outcome: Outcome): void {
  let { pending, left } = step.session
  for (const [id, call] of step.run.calls) {
    if (outcome !== 'interrupted' && !isOpen(call) && !call.longRunning) continue
    if (++left > mostIds) break
    pending = pending.set(id, call)
  }
  step.session.pending = pending
  step.session.left = left
}

export function lintNodeStart(step: Step, { node, parent }: NodeStarted): void {
  const known = step.run.nodes.get(node)
  if (known !== undefined && known.unknown === undefined) {
    addProblem(step, 'node-repeated', `The node ${quoted(node)} has started before.`, { node, earlier: known.seq })
    return
  }
  step.run.hasNodes = true
  if (known === undefined && !follows(step)) return
  if (parent !== undefined && parent !== node) {
    const above = nodeOf(step, parent)
    if (above !== undefined) setNode(step, parent, { ...above, open: above.open + 1 })
  }
  setNode(step, node, { seq: step.row.seq, open: 0, ...(parent === undefined || parent === node ? {} : { parent }) })
}

export function lintNodeEnd(step: Step, { node }: NodeFinished): void {
  const known = nodeOf(step, node)
  if (known === undefined || known.unknown) return
  if (known.ended !== undefined) {
    addProblem(step, 'node-ended-twice', `The node ${quoted(node)} has ended before.`, { node, earlier: known.ended })
    return
  }
  if (known.open > 0) {
    const [nodes, them] = known.open === 1 ? ['a node', 'it'] : [`${known.open} nodes`, 'them']
    const sentence = `The node ${quoted(node)} ended while ${nodes} that it had started had not: the end of ${them} comes later or never.`
    addProblem(step, 'node-end-order', sentence, { node, earlier: known.seq })
  }
  setNode(step, node, { ...known, ended: step.row.seq })
  const above = known.parent === undefined ? undefined : step.run.nodes.get(known.parent)
  if (known.parent !== undefined && above !== undefined) {
    setNode(step, known.parent, { ...above, open: Math.max(0, above.open - 1) })
  }
}

/**
 * An event that names its node. Wires without node events may still name nodes, so those are not checked. State may come
 * after the node's end: a graph applies what the nodes of one step wrote when the last of them has ended.
 */
export function lintInNode(step: Step, node: NodeId, kind: RunEvent['kind']): void {
  if (!step.run.hasNodes) return
  const known = nodeOf(step, node)
  if (known?.ended === undefined || kind === 'state') return
  const sentence = `Something happened in node ${quoted(node)} after it had ended.`
  addProblem(step, 'node-after-end', sentence, { node, earlier: known.ended })
}

/** The track of a node. A node that never started is reported once. */
function nodeOf(step: Step, node: NodeId): NodeTrack | undefined {
  const known = step.run.nodes.get(node)
  if (known !== undefined || !followsAll(step)) return known
  addProblem(step, 'node-unknown', `The node ${quoted(node)} never started.`, { node })
  if (!follows(step)) return undefined
  const track: NodeTrack = { seq: step.row.seq, open: 0, unknown: true }
  setNode(step, node, track)
  return track
}

function setNode(step: Step, node: NodeId, track: NodeTrack): void {
  step.run.nodes = step.run.nodes.set(node, track)
}

/** The second attempt of a step may use the same ids again. */
export function lintSuperseded(step: Step, { messages, nodes }: Superseded): void {
  const count = messages.length
  const lost =
    count === 0
      ? ''
      : `: ${count} ${count === 1 ? 'message' : 'messages'} no longer ${count === 1 ? 'counts' : 'count'}`
  const sentence = `A step was cut short and done again${lost}.`
  // A run that goes on from a change has lost nothing where all that it reuses had ended.
  if (count + nodes.length > 0) addProblem(step, 'superseded', sentence)
  let { messages: known, calls, nodes: tracks } = step.run
  let { pending } = step.session
  // What was answered last is restored first.
  for (const answer of messages.flatMap((message) => known.get(message)?.answers ?? []).reverse()) {
    if (answer.pending) pending = pending.set(answer.key, answer.before)
    else calls = calls.set(answer.key, answer.before)
  }
  for (const message of messages) {
    for (const call of known.get(message)?.calls ?? []) calls = calls.delete(call)
    known = known.delete(message)
  }
  for (const node of nodes) tracks = tracks.delete(node)
  Object.assign(step.run, { messages: known, calls, nodes: tracks })
  step.session.pending = pending
}
