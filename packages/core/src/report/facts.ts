import { partsOf, textOf } from '../event/parts.ts'
import type { ModelPrices } from '../event/price.ts'
import { isUnseenEnd, type Problem } from '../event/problem.ts'
import type { Outcome, Recorded } from '../event/run-event.ts'
import { isPartial } from '../event/streaming.ts'
import type { Calls } from '../view/calls/state.ts'
import type { FeedbackState } from '../view/feedback/state.ts'
import type { PlanState } from '../view/plan/state.ts'
import type { ProblemsState } from '../view/problems/state.ts'
import type { ProofState } from '../view/proof/state.ts'
import { views } from '../view/registry.ts'
import { type Spent, spentOn } from '../view/spent.ts'
import type { Timeline } from '../view/timeline/state.ts'
import type { Transcript } from '../view/transcript/state.ts'
import type { UsageReport } from '../view/usage/state.ts'

/** What a report is about. */
export interface ReportAbout {
  readonly session: string
  readonly title: string
  readonly agent: string
  readonly user?: string
  /** Only this run. */
  readonly run?: string
  /** Prices of the reader: they win over what the log says. */
  readonly prices?: ModelPrices
}

/** One run, as a report tells it. */
export interface ReportRun {
  readonly run: string
  /** 1 for the first run of the session. */
  readonly number: number
  readonly agent: string
  readonly cause: 'message' | 'answer' | 'plan'
  readonly question: string
  readonly startedAt: number
  /** The last event before its end, for runs that were cut off. */
  readonly lastAt: number
  readonly endedAt?: number
  readonly outcome?: Outcome
  readonly error?: Problem
}

/** What the sections of a report are made from. */
export interface ReportFacts {
  readonly about: ReportAbout
  readonly runs: readonly ReportRun[]
  readonly events: number
  readonly transcript: Transcript
  readonly timeline: Timeline
  readonly calls: Calls
  readonly usage: UsageReport
  readonly proof: ProofState
  readonly plan: PlanState
  readonly problems: ProblemsState
  readonly feedback: FeedbackState
  readonly spent: Spent
  /** The rows in which an answer may have its evidence. */
  readonly evidence: readonly Recorded[]
}

/** Takes the rows of a session one by one, so that partials of a long session are never in memory together. */
export class FactsOfReport {
  readonly #about: ReportAbout
  readonly #runs = new Map<string, ReportRun>()
  readonly #evidence: Recorded[] = []
  readonly #states = {
    transcript: views.transcript.initial,
    timeline: views.timeline.initial,
    calls: views.calls.initial,
    usage: views.usage.initial,
    proof: views.proof.initial,
    plan: views.plan.initial,
    problems: views.problems.initial,
    feedback: views.feedback.initial,
  }
  #events = 0
  #started = 0

  constructor(about: ReportAbout) {
    this.#about = about
  }

  push(row: Recorded): void {
    const { event, run } = row
    if (event.kind === 'run.started') this.#started += 1
    const only = this.#about.run
    const of = event.kind === 'feedback' ? event.about.run : run
    const holds = event.kind === 'agent' ? !isPartial(event.event) : holders.has(event.kind)
    // An answer may rest on what an earlier run of the session found.
    if (holds) this.#evidence.push(row)
    if (only !== undefined && of !== only) return
    this.#events += 1
    const states = this.#states
    states.transcript = views.transcript.apply(states.transcript, row)
    states.timeline = views.timeline.apply(states.timeline, row)
    states.calls = views.calls.apply(states.calls, row)
    states.usage = views.usage.apply(states.usage, row)
    states.proof = views.proof.apply(states.proof, row)
    states.plan = views.plan.apply(states.plan, row)
    states.problems = views.problems.apply(states.problems, row)
    states.feedback = views.feedback.apply(states.feedback, row)
    this.#follow(row)
  }

  facts(): ReportFacts {
    const { calls } = this.#states
    return {
      about: this.#about,
      runs: [...this.#runs.values()],
      events: this.#events,
      ...this.#states,
      spent: spentOn(calls.calls, this.#about.prices),
      evidence: this.#evidence,
    }
  }

  #follow({ event, run, at }: Recorded): void {
    const known = this.#runs.get(run)
    if (event.kind === 'run.started' && known === undefined) {
      const { messages, resume = [], props } = event.input
      const said = messages.filter(({ role }) => role === 'user')
      this.#runs.set(run, {
        run,
        number: this.#started,
        agent: event.agent,
        cause: props?.mode === 'execute' ? 'plan' : resume.length > 0 ? 'answer' : 'message',
        question: said.map(({ content }) => partsOf(content).map(textOf).join('')).join('\n\n'),
        startedAt: at,
        lastAt: at,
      })
    } else if (known !== undefined && known.outcome === undefined) {
      if (event.kind !== 'run.finished') {
        if (event.kind !== 'node.finished' || !isUnseenEnd(event.error)) this.#runs.set(run, { ...known, lastAt: at })
      } else {
        const { outcome, error } = event
        this.#runs.set(run, { ...known, endedAt: at, outcome, ...(error === undefined ? {} : { error }) })
      }
    }
  }
}

const holders: ReadonlySet<string> = new Set([
  'run.started',
  'data',
  'superseded',
  'artifact',
  'task.finished',
  'state',
])
