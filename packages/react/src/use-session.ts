import type { ConnectionState } from '@millrace/core'
import { useEffect, useSyncExternalStore } from 'react'
import { useClient } from './provider.tsx'
import type { SessionHandle } from './session-handle.ts'

/** Follows a session for as long as the component is there. Every component on one session shares one connection. */
export function useSession(id: string): SessionHandle {
  const session = useClient().session(id)
  useEffect(() => session.retain(), [session])
  return session
}

/** How the connection stands: live, waiting to reconnect, ended, or refused with the reason. */
export function useConnectionState(session: SessionHandle): ConnectionState {
  return useSyncExternalStore(
    session.subscribeState,
    () => session.state,
    () => session.state,
  )
}
