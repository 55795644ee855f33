import type { Asked, ResumeAnswer, RunEnd } from '@millrace/core'
import { createContext, useContext } from 'react'
import type { ChangeTarget } from '../change/draft.ts'
import { goTo } from '../session/cursor.ts'
import type { CutEnd, RunSpan } from '../session/runs.ts'
import { openStep } from '../step/open-step.ts'

/** The actions that a row of the conversation offers. None is available in a file or at an earlier moment. */
export interface Actions {
  readonly canFork: boolean
  /** Also false when the session's agent is not on this server: nothing could be sent to it. */
  readonly canRun: boolean
  readonly pending: boolean
  /** An agent is running at the moment shown. */
  readonly working: boolean
  /** The run that is active at the moment shown. */
  readonly activeRun: string | undefined
  /** Opens the editor of a message or a result; undefined where nothing can be changed. */
  readonly change: ((target: ChangeTarget) => void) | undefined
  retry(end: RunEnd): void
  forkAt(seq: number): void
  answer(asked: Asked, answer: ResumeAnswer): void
  /** Answers that are given but not sent yet: a run continues only when all of its questions are answered. */
  readonly given: ReadonlyMap<string, ResumeAnswer>
  readonly waiting: number
  /** The calls that a person rejected. They did not fail. */
  readonly rejected: ReadonlySet<string>
  /** How long each call took that has a record or ran as a step of its own, in milliseconds. */
  readonly callTimes: ReadonlyMap<string, number>
  readonly runs: ReadonlyMap<string, RunSpan>
  /** The runs that were cut off, by the seq of their end. */
  readonly cuts: ReadonlyMap<number, CutEnd>
  /** The run whose end shows the plan. */
  readonly planRun: string | undefined
  /** Move the cursor to an event of the session of the row, and open a step of it. */
  readonly goTo: (seq: number) => void
  readonly openStep: (seq: number, key?: string) => void
}

/** What rows have that only show what happened. */
export const noActions: Actions = {
  canFork: false,
  canRun: false,
  pending: false,
  working: false,
  activeRun: undefined,
  change: undefined,
  retry: () => undefined,
  forkAt: () => undefined,
  answer: () => undefined,
  given: new Map(),
  waiting: 0,
  rejected: new Set(),
  callTimes: new Map(),
  runs: new Map(),
  cuts: new Map(),
  planRun: undefined,
  goTo,
  openStep,
}

export const ActionsContext = createContext<Actions>(noActions)
export const useActions = (): Actions => useContext(ActionsContext)
