import type { SessionInfo } from '@millrace/core'
import { create } from 'zustand'

export const useInbox = create<{ readonly open: boolean }>()(() => ({ open: false }))

export const showInbox = (): void => useInbox.setState({ open: true })
export const hideInbox = (): void => useInbox.setState({ open: false })

/** The sessions in which an agent waits for a person, the one that waits longest first. */
export function waitingIn(sessions: readonly SessionInfo[]): readonly SessionInfo[] {
  return sessions.filter(({ status }) => status === 'interrupted').sort((a, b) => a.updatedAt - b.updatedAt)
}

export function runningIn(sessions: readonly SessionInfo[]): readonly SessionInfo[] {
  return sessions.filter(({ status }) => status === 'running').sort((a, b) => b.updatedAt - a.updatedAt)
}
