import type { Asked, Message, ResumeAnswer, RunEnd } from '@millrace/core'
import { createContext, useContext } from 'react'

/** What a row of the conversation can ask for. Nothing of it exists in a file or in the past. */
export interface Actions {
  readonly live: boolean
  readonly pending: boolean
  /** At the moment shown, an agent is at work. */
  readonly working: boolean
  edit(message: Message, text: string): void
  retry(end: RunEnd): void
  forkAt(seq: number): void
  answer(asked: Asked, answer: ResumeAnswer): void
  /** Given, but not sent yet: a run goes on only when all it asked is answered. */
  readonly given: ReadonlyMap<string, ResumeAnswer>
  readonly waiting: number
}

const none: Actions = {
  live: false,
  pending: false,
  working: false,
  edit: () => undefined,
  retry: () => undefined,
  forkAt: () => undefined,
  answer: () => undefined,
  given: new Map(),
  waiting: 0,
}

export const ActionsContext = createContext<Actions>(none)
export const useActions = (): Actions => useContext(ActionsContext)
