import type { Recorded, RunEvent } from '../../event/run-event.ts'
import { applyState } from '../../event/state-fold.ts'
import { Dictionary } from '../../persistent/dictionary.ts'
import { Hidden } from '../../persistent/hidden.ts'
import { patchProofs } from '../proof/read.ts'
import type { View } from '../view.ts'
import type { StreamProblem } from './code.ts'
import { lintMessage } from './message.ts'
import { lintEnd, lintInNode, lintNodeEnd, lintNodeStart, lintStart, lintSuperseded } from './run.ts'
import { emptyProblems, newRun, ownRun, ownSession, type ProblemsState } from './state.ts'
import { addProblem, quoted, type Step } from './step.ts'

/** A broken stream often repeats one fault: beyond this many of one code, problems are counted, not listed. */
const mostPerCode = 50

/** The linter: what in the stream breaks the contract, is lost or is doubtful, each with the number of its event. */
export const problemsView: View<ProblemsState> = {
  name: 'problems',
  initial: emptyProblems,
  apply(state, row: Recorded) {
    const run = state.runs.get(row.run) ?? newRun
    const step: Step = { row, run: ownRun(run), session: ownSession(state.session.value), found: [] }
    lint(step)
    step.run.last = row.seq
    const { problems, counts, total } = state
    const runs = row.run === '' ? state.runs : state.runs.set(row.run, step.run)
    return withFound({ problems, counts, total, runs, session: new Hidden(step.session) }, step.found)
  },
}

/** The problems of a stream that is over: runs that never ended are problems too. */
export function problemsAtEnd(state: ProblemsState): ProblemsState {
  const open = [...state.runs].filter(([, run]) => run.ended === undefined).sort(([, a], [, b]) => a.last - b.last)
  const found = open.map(([run, { last }]): StreamProblem => {
    const message = `The stream stopped and the run ${quoted(run)} never ended.`
    return { code: 'no-end', severity: 'error', message, seq: last, run }
  })
  return withFound(state, found)
}

function withFound(state: ProblemsState, found: readonly StreamProblem[]): ProblemsState {
  if (found.length === 0) return state
  let { problems, total } = state
  const counts = { ...state.counts }
  for (const problem of found) {
    const count = (counts[problem.code] ?? 0) + 1
    counts[problem.code] = count
    total++
    if (count <= mostPerCode) problems = problems.append(problem)
  }
  return { ...state, problems, counts, total }
}

function lint(step: Step): void {
  const { row, session } = step
  const { event, run, seq } = row
  if (seq <= session.seq) {
    addProblem(step, 'seq-order', `The event has number ${seq}, but ${session.seq} came before it.`, {
      earlier: session.seq,
    })
  }
  const state = applyState(session.state, event, ({ path, reason }) => {
    addProblem(step, 'lost-patch', `The change of the state at ${quoted(path)} is lost: ${reason}.`)
  })
  session.state = state
  session.seq = Math.max(seq, session.seq)
  if (run !== '' && event.kind !== 'run.finished' && step.run.ended !== undefined) {
    addProblem(step, 'after-end', `${subjectOf(event)} came after the run had ended.`, { earlier: step.run.ended })
    if (event.kind !== 'run.started' && event.kind !== 'foreign') return
  }
  if (run !== '' && event.kind !== 'run.started' && step.run.started === undefined && !step.run.early) {
    addProblem(step, 'before-start', `${subjectOf(event)} came before the run had started.`)
    step.run.early = true
  }
  if ('node' in event && event.node !== undefined && !ofItsOwn.has(event.kind)) lintInNode(step, event.node, event.kind)
  lintKind(step, event)
}

/** A change names the step of the run that was changed: there it may have ended, and here it may not begin again. */
const ofItsOwn: ReadonlySet<string> = new Set(['node.started', 'node.finished', 'changed'])

function lintKind(step: Step, event: RunEvent): void {
  switch (event.kind) {
    case 'run.started':
      lintStart(step, event)
      return
    case 'run.finished':
      lintEnd(step, event)
      return
    case 'agent':
      lintMessage(step, event)
      return
    case 'node.started':
      lintNodeStart(step, event)
      return
    case 'node.finished':
      lintNodeEnd(step, event)
      return
    case 'superseded':
      lintSuperseded(step, event)
      return
    case 'foreign':
      addProblem(
        step,
        'unread',
        `A frame of the ${quoted(event.dialect)} wire could not be read: ${clipped(event.reason)}.`,
      )
      return
    case 'state':
      for (const { proof } of patchProofs(step.row, event.patch)) {
        if (proof.refused !== undefined)
          addProblem(step, 'bad-proof', `A proof_layer is not used: ${proof.refused.reason}.`)
      }
      return
    default:
      lintPlan(step, event)
  }
}

/** Tasks and questions: an event about one is a problem if it was not announced before. */
function lintPlan(step: Step, event: RunEvent): void {
  switch (event.kind) {
    case 'tasks': {
      let tasks: Dictionary<true> = Dictionary.empty
      for (const { id } of event.tasks) tasks = tasks.set(id, true)
      step.session.tasks = tasks
      return
    }
    case 'tasks.changed': {
      let tasks = step.session.tasks ?? Dictionary.empty
      // A task that is removed stays known, because a run may still be at work on it.
      for (const { task, removed } of event.changes) tasks = removed === true ? tasks : tasks.set(task, true)
      step.session.tasks = tasks
      return
    }
    case 'task.started':
    case 'task.finished':
    case 'task.reflected':
      if (step.session.tasks === undefined || step.session.tasks.get(event.task) === true) return
      addProblem(step, 'task-unknown', `The task ${quoted(event.task)} is not in the plan.`)
      return
    case 'interrupt':
      step.session.interrupts = step.session.interrupts.set(event.id, step.row.seq)
      return
    case 'resumed':
      if (step.session.interrupts.get(event.interrupt) === undefined) {
        addProblem(step, 'interrupt-unknown', `The question ${quoted(event.interrupt)} is not open.`)
      }
      step.session.interrupts = step.session.interrupts.delete(event.interrupt)
      return
    case 'artifact':
    case 'data':
    case 'log':
    case 'model.started':
    case 'model.finished':
    case 'tool.finished':
    case 'feedback':
    case 'changed':
      return
    default:
      addProblem(step, 'unread', `An event of an unknown kind: ${quoted(event.kind)}.`)
  }
}

/** The beginning of a sentence about the event. */
function subjectOf({ kind }: RunEvent): string {
  return kind === 'agent' ? 'A message of an agent' : `An event of kind ${quoted(kind)}`
}

function clipped(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
