import type { Change, ChangePlan, ChangeRefusal } from '@millrace/core'
import { create } from 'zustand'
import { navigate } from '../app/route.ts'
import { printSides } from '../compare/sides.ts'
import { client } from '../session/client.ts'
import { isFile } from '../session/files.ts'
import { useSessions } from '../session/sessions.ts'
import { type ChangeTarget, changeFrom, fieldsOf } from './draft.ts'

/** The thing that is being edited, and what the server says about running on from there. */
export interface OpenChange {
  readonly session?: string
  readonly target?: ChangeTarget
  readonly plan?: ChangePlan
  /** Why the change cannot be made, in the words of the server. */
  readonly refusal?: string
}

export const useChange = create<OpenChange>()(() => ({}))

export const closeChange = (): void => useChange.setState({}, true)

const place = (session: string): string => `sessions/${encodeURIComponent(session)}/run-on`

/** Opens the editor. What would be reused does not depend on what is typed, so the server is asked at once. */
export async function openChange(session: string, target: ChangeTarget): Promise<void> {
  useChange.setState({ session, target }, true)
  const answer = await planOf(session, target)
  if (useChange.getState().target === target) useChange.setState(answer)
}

async function planOf(session: string, target: ChangeTarget): Promise<Pick<OpenChange, 'plan' | 'refusal'>> {
  if (isFile(session)) return { refusal: 'This is a file on this page. Save it to the server to run it on.' }
  const unchanged = changeFrom(
    target,
    fieldsOf(target).map(({ text }) => text),
  )
  if ('problem' in unchanged) return { refusal: unchanged.problem }
  try {
    const body = { change: unchanged.change }
    const answer = await client.request(`${place(session)}/plan`, { method: 'POST', body })
    return (answer as Partial<ChangeRefusal>).refusal === undefined
      ? { plan: answer as ChangePlan }
      : { refusal: (answer as ChangeRefusal).refusal }
  } catch (error) {
    return { refusal: error instanceof Error ? error.message : String(error) }
  }
}

/** Runs on in a new session, and shows it beside the one that was changed. */
export async function runChanged(session: string, change: Change, title: string): Promise<void> {
  const made = await client.runOn(session, change, { title: title.slice(0, 200) })
  await useSessions.getState().refresh()
  navigate({ session: made.session.id, compare: printSides([{ session }, { session: made.session.id }]) })
}
