import { create } from 'zustand'
import { showPane } from '../app/panes.ts'
import { navigate, routeNow } from '../app/route.ts'

/** What a person clicked: a call, an execution of an agent, or only a moment. */
export interface StepChoice {
  readonly at: number
  /** The key of a step (steps.ts). It counts while the cursor is at `at`. */
  readonly key?: string
}

export const useStepChoice = create<StepChoice>(() => ({ at: 0 }))

/** Opens the step inspector, with the cursor at the event; of another session than the open one if that is given. */
export function openStep(at: number, key?: string, session = routeNow().session): void {
  useStepChoice.setState({ at, ...(key === undefined ? {} : { key }) }, true)
  navigate({ session, compare: undefined, at, panel: 'step' })
  showPane('inspector', true)
}
