import { type Cost, defined, type Execution, type LiveLog, runWord, type Usage } from '@millrace/core'
import { lastSignOf, type RunSpan } from '../session/runs.ts'
import { type StateWord, stepWord } from '../ui/state-word.ts'
import type { CallSpan } from './calls.ts'
import { criticalKeys } from './critical.ts'

/** A bar of the waterfall: a run, a step of an agent, or a call of a model or a tool. */
export interface Span {
  readonly key: string
  readonly kind: 'run' | 'agent' | 'model' | 'tool'
  /** Its lane. A lane whose path continues another one is drawn below it. */
  readonly path: string
  readonly agent: string
  readonly name: string
  readonly run: string
  /** Which of the executions of one node it is, where there are several. */
  readonly number?: string
  /** The key of the step that it is inside of. */
  readonly within?: string
  readonly startSeq: number
  readonly startedAt: number
  readonly endSeq?: number
  /** The call that it shows, and the event that has its result where that is later than its end. */
  readonly call?: string
  readonly recordSeq?: number
  /** Milliseconds. */
  readonly duration?: number
  readonly word: StateWord
  readonly error?: string
  readonly firstSeq?: number
  /** Milliseconds until the first token. */
  readonly firstAfter?: number
  /** Another server made the call: its times count from what arrived before its answer. */
  readonly remote?: true
  /** Of a model call. */
  readonly usage?: Usage
  readonly cost?: Cost
  readonly superseded?: boolean
  /** The run would have ended earlier if this had. */
  readonly critical?: boolean
}

const runLane = '\u0000runs'

/** All bars in the order of their starts. A run that was cut off ends at its last event. */
export function barsOfLog(
  log: LiveLog,
  runs: readonly RunSpan[],
  executions: readonly Execution[],
  calls: readonly CallSpan[],
): readonly Span[] {
  const ends = new Map(runs.map((run) => [run.run, run]))
  const cuts = new Map(
    runs.flatMap((run) => {
      const last = lastSignOf(log, run)
      return last === undefined ? [] : [[run.run, last] as const]
    }),
  )
  const cutAt = (run: string, endSeq: number | undefined): Sign | undefined => {
    const last = cuts.get(run)
    return last !== undefined && endSeq !== undefined && endSeq > last.seq ? last : undefined
  }
  const owners = new Map(executions.map((each) => [`${each.run}\n${each.node}`, each] as const))
  const spans: Span[] = [
    ...runs.map((run) => spanOfRun(run, cutAt(run.run, run.endSeq))),
    ...executions.map((each) => ({
      ...spanOfExecution(each, ends.get(each.run), cutAt(each.run, each.endSeq)),
      ...defined({ within: owners.get(`${each.run}\n${each.parent}`)?.key }),
    })),
    ...spansOfCalls(calls, executions, owners, ends, cutAt),
  ]
  const critical = criticalKeys(spans)
  return spans
    .map((span) => (critical.has(span.key) ? { ...span, critical: true } : span))
    .sort((a, b) => a.startSeq - b.startSeq)
}

interface Sign {
  readonly seq: number
  readonly at: number
}

function spanOfRun(run: RunSpan, cut: Sign | undefined): Span {
  const { number, agent, startSeq, startedAt, endSeq, endedAt, outcome, code } = run
  const end = cut ?? (endSeq === undefined || endedAt === undefined ? undefined : { seq: endSeq, at: endedAt })
  return defined({
    key: `run ${run.run}`,
    kind: 'run' as const,
    path: runLane,
    agent,
    name: `Run ${number}`,
    run: run.run,
    startSeq,
    startedAt,
    endSeq: end?.seq,
    duration: end === undefined ? undefined : end.at - startedAt,
    word: runWord(outcome ?? 'running', code),
  })
}

function spanOfExecution(execution: Execution, run: RunSpan | undefined, cut: Sign | undefined): Span {
  const { key, path, agent, node, startSeq, startedAt, endSeq, duration, error, superseded } = execution
  return defined({
    key,
    kind: 'agent' as const,
    path,
    agent,
    name: agent,
    run: execution.run,
    number: node.split('/').at(-1)?.split('@')[1],
    startSeq,
    startedAt,
    endSeq: cut?.seq ?? endSeq,
    duration: cut === undefined ? duration : cut.at - startedAt,
    word: cut === undefined ? stepWord(execution, run) : ('cut off' as const),
    error: error?.message,
    superseded,
  })
}

/** The calls of each step. A call that ran as a step of its own has a bar already. */
function spansOfCalls(
  calls: readonly CallSpan[],
  executions: readonly Execution[],
  owners: ReadonlyMap<string, Execution>,
  runs: ReadonlyMap<string, RunSpan>,
  cutAt: (run: string, endSeq: number | undefined) => Sign | undefined,
): readonly Span[] {
  const steps = new Set(executions.flatMap(({ call }) => call ?? []))
  const turns = new Map<string, Execution[]>()
  for (const each of executions) {
    const name = `${each.run}\n${each.agent}`
    const known = turns.get(name)
    if (known === undefined) turns.set(name, [each])
    else known.push(each)
  }
  // A log without nodes shows by agent and place which execution made a call.
  const turnOf = ({ run, owner, startSeq }: CallSpan): Execution | undefined => {
    const all = turns.get(`${run}\n${owner}`)
    return all?.findLast((each) => each.startSeq <= startSeq) ?? all?.[0]
  }
  return calls.flatMap((call) => {
    const owner = owners.get(`${call.run}\n${call.owner}`) ?? turnOf(call)
    if (owner === undefined || (call.kind === 'tool' && call.call !== undefined && steps.has(call.call))) return []
    const { key, kind, name, run, startedAt, firstSeq, firstAt, endSeq, endedAt, failed, usage, cost, remote } = call
    // A call of another server is recorded with its first sign, but it began before: after the last sign of its step.
    const startSeq = remote === undefined ? call.startSeq : Math.max(owner.startSeq, call.ledBy ?? 0)
    const over = owner.endSeq !== undefined || runs.get(run)?.endSeq !== undefined
    const waits = kind === 'tool' && runs.get(run)?.outcome === 'interrupted'
    const open = over ? (waits ? 'waiting' : 'cut off') : 'running'
    const word: StateWord = endSeq === undefined && call.answered !== true ? open : failed === true ? 'failed' : 'done'
    return [
      defined({
        key,
        kind,
        path: `${owner.path}/\u0001${kind === 'model' ? 'model' : name}`,
        agent: owner.agent,
        name,
        run,
        within: owner.key,
        startSeq,
        startedAt,
        endSeq: endSeq ?? (over ? (cutAt(run, owner.endSeq)?.seq ?? owner.endSeq) : undefined),
        call: call.call,
        recordSeq: call.recordSeq,
        duration: call.duration ?? (endedAt === undefined ? undefined : endedAt - startedAt),
        word,
        firstSeq,
        firstAfter: call.firstAfter ?? (firstAt === undefined ? undefined : firstAt - startedAt),
        usage,
        cost,
        remote,
      }),
    ]
  })
}
