import { createContext, type ReactNode, useContext, useMemo } from 'react'
import type { Client } from './session-client.ts'
import type { SessionHandle } from './session-handle.ts'

const ClientContext = createContext<Client | undefined>(undefined)

/** Provides the client that the components below use. */
export function MillraceProvider({ client, children }: { readonly client: Client; readonly children: ReactNode }) {
  // React 18 only supports the `.Provider` form.
  return <ClientContext.Provider value={client}>{children}</ClientContext.Provider>
}

export function useClient(): Client {
  const client = useContext(ClientContext)
  if (client === undefined)
    throw new Error('no client: render this component inside <MillraceProvider client={createClient(…)}>')
  return client
}

interface SurroundingSession {
  readonly session: SessionHandle
  readonly agent: string | undefined
}
const SessionContext = createContext<SurroundingSession | undefined>(undefined)

/** Provides the session (`useSession(id)`) that `useView(view)` and `useRun()` use in the components below. */
export function SessionProvider({
  session,
  agent,
  children,
}: {
  readonly session: SessionHandle
  /** The agent whose runs `useRun()` starts. */
  readonly agent?: string
  readonly children: ReactNode
}) {
  const value = useMemo(() => ({ session, agent }), [session, agent])
  return <SessionContext.Provider value={value}>{children}</SessionContext.Provider>
}

export function useSurroundingSession(): SurroundingSession | undefined {
  return useContext(SessionContext)
}
