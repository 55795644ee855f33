import type { ConnectionState } from '@millrace/core'
import { useEffect, useSyncExternalStore } from 'react'
import { useClient } from './provider.tsx'
import type { SessionHandle } from './session-handle.ts'

/** Follows a session while the component is mounted. All components on one session share one connection. */
export function useSession(id: string): SessionHandle {
  const session = useClient().session(id)
  useEffect(() => session.retain(), [session])
  return session
}

/** The state of the connection: open, waiting to reconnect, ended, or refused with the reason. */
export function useConnectionState(session: SessionHandle): ConnectionState {
  return useSyncExternalStore(
    session.subscribeState,
    () => session.state,
    () => session.state,
  )
}
