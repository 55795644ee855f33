import { createContext, type ReactNode, useContext } from 'react'
import type { Client } from './session-client.ts'

const ClientContext = createContext<Client | undefined>(undefined)

export function MillraceProvider({ client, children }: { readonly client: Client; readonly children: ReactNode }) {
  // `.Provider`, because React 18 knows no other form.
  return <ClientContext.Provider value={client}>{children}</ClientContext.Provider>
}

export function useClient(): Client {
  const client = useContext(ClientContext)
  if (client === undefined) throw new Error('put a <MillraceProvider client={createClient(…)}> above this component')
  return client
}
