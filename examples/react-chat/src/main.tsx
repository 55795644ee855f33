import { createClient, MillraceProvider } from '@millrace/react'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Chat } from './chat.tsx'
import './chat.css'

const client = createClient()
const agent = new URLSearchParams(location.search).get('agent') ?? 'research'
// The session is in the address: a reload, or another tab, joins the same conversation.
if (location.hash === '') location.hash = client.newId()

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <MillraceProvider client={client}>
      <Chat id={location.hash.slice(1)} agent={agent} />
    </MillraceProvider>
  </StrictMode>,
)
