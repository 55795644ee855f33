import { createContext, type ReactNode, useContext, useMemo } from 'react'
import type { Client } from './session-client.ts'
import type { SessionHandle } from './session-handle.ts'

const ClientContext = createContext<Client | undefined>(undefined)

/** The server that the components below talk to. */
export function MillraceProvider({ client, children }: { readonly client: Client; readonly children: ReactNode }) {
  // `.Provider`, because React 18 knows no other form.
  return <ClientContext.Provider value={client}>{children}</ClientContext.Provider>
}

export function useClient(): Client {
  const client = useContext(ClientContext)
  if (client === undefined) throw new Error('put a <MillraceProvider client={createClient(…)}> above this component')
  return client
}

interface Around {
  readonly session: SessionHandle
  readonly agent: string | undefined
}
const SessionContext = createContext<Around | undefined>(undefined)

/** The session (`useSession(id)`) that `useView(view)` reads and `useRun()` acts on, in the components below. */
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
  const around = useMemo(() => ({ session, agent }), [session, agent])
  return <SessionContext.Provider value={around}>{children}</SessionContext.Provider>
}

export function useAround(): Around | undefined {
  return useContext(SessionContext)
}
