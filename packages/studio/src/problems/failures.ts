import {
  defined,
  functionResponsesOf,
  isJsonObject,
  isObject,
  isPartial,
  isToolError,
  type Json,
  type ProblemCode,
  type Recorded,
  type View,
} from '@millrace/core'
import { Sequence } from '@millrace/core/persistent'

/** Something that did not work for the person: a run, a step or a tool. */
export interface Failure {
  readonly seq: number
  readonly run: string
  readonly kind: 'run' | 'step' | 'tool'
  /** The step in which it happened: an agent or a node, and for a tool its name. */
  readonly step: string
  readonly tool?: string
  readonly message: string
  readonly code?: ProblemCode
}

export interface Failures {
  readonly list: Sequence<Failure>
  /** Open questions by id: the call that each of them is about. A call that a person rejects did not fail. */
  readonly asked: ReadonlyMap<string, string>
  readonly rejected: ReadonlySet<string>
}

/** Failures in the order of the log. An error that a step passes on to its run is listed once, at the step. */
export const failuresView: View<Failures> = {
  name: 'failures',
  initial: { list: Sequence.empty, asked: new Map(), rejected: new Set() },
  apply(state, row) {
    const { event } = row
    if (event.kind === 'interrupt' && event.call !== undefined) {
      return { ...state, asked: new Map(state.asked).set(event.id, event.call) }
    }
    if (event.kind === 'resumed') return answered(state, event.interrupt, event.status, event.payload)
    let next = state
    for (const failure of failuresIn(row, state)) next = { ...next, list: added(next.list, failure) }
    return next
  },
}

function answered(state: Failures, id: string, status: string, payload: Json | undefined): Failures {
  const call = state.asked.get(id)
  const no = status === 'cancelled' || (isJsonObject(payload) && payload.confirmed === false)
  return call === undefined || !no ? state : { ...state, rejected: new Set([...state.rejected, call]) }
}

function failuresIn({ seq, run, event }: Recorded, { rejected }: Failures): readonly Failure[] {
  if (event.kind === 'run.finished' && event.outcome === 'failed') {
    const { code, message = 'The run failed' } = event.error ?? {}
    return [defined({ seq, run, kind: 'run' as const, step: '', message, code })]
  }
  if (event.kind === 'node.finished' && event.status === 'error') {
    const { code, message = 'The step failed' } = event.error ?? {}
    return [defined({ seq, run, kind: 'step' as const, step: event.node, message, code })]
  }
  if (event.kind !== 'agent' || isPartial(event.event)) return []
  const { author, errorCode, errorMessage } = event.event
  const step = event.node ?? author ?? ''
  const made: Failure[] = functionResponsesOf(event.event).flatMap(({ id, name, response }) => {
    const message = isObject(response) ? errorText(response.error) : undefined
    if (message === undefined || (id !== undefined && rejected.has(id))) return []
    return [{ seq, run, kind: 'tool', step, tool: name, message }]
  })
  if (errorCode !== undefined) made.push({ seq, run, kind: 'step', step, message: errorMessage ?? errorCode })
  return made
}

/** ADK turns a tool that throws into `{ error: "…" }`. */
function errorText(error: unknown): string | undefined {
  if (!isToolError(error)) return undefined
  if (typeof error === 'string') return error
  return isObject(error) && typeof error.message === 'string' ? error.message : 'The tool reported an error'
}

/** The same sentence again in the same run is the same failure, on its way from the step to the run. */
function added(list: Sequence<Failure>, failure: Failure): Sequence<Failure> {
  for (let i = list.length - 1; i >= 0; i--) {
    const known = list.at(i)
    if (known === undefined || known.run !== failure.run) break
    if (known.kind === 'tool' || failure.kind === 'tool' || !isSameText(known.message, failure.message)) continue
    const kind = failure.kind === 'run' ? 'run' : known.kind
    return list.with(i, defined({ ...known, kind, code: failure.code ?? known.code }))
  }
  return list.append(failure)
}

function isSameText(a: string, b: string): boolean {
  return a === b || a.endsWith(b) || b.endsWith(a)
}
