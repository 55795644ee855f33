import { transcriptView } from '@millrace/core'
import {
  ChatStoreProvider,
  createChatStore,
  createClient,
  MillraceProvider,
  SessionProvider,
  useAgentStatus,
  useAgentTransitions,
  useConnectionState,
  useDerivedMessages,
  useRun,
  useSession,
  useSSE,
  useThoughts,
  useView,
} from '@millrace/react'
import { StrictMode, version } from 'react'
import { renderToString } from 'react-dom/server'

/** Every hook, rendered where there is no page. */
export function render(): { readonly version: string; readonly html: string } {
  const store = createChatStore()
  store.getState().addRawEvent('s', {
    id: 'e',
    author: 'writer',
    invocationId: 'i',
    timestamp: 1.76e12,
    content: { parts: [{ text: 'from the server' }] },
  })
  const html = renderToString(
    <StrictMode>
      <MillraceProvider client={createClient()}>
        <ChatStoreProvider store={store}>
          <Page />
        </ChatStoreProvider>
      </MillraceProvider>
    </StrictMode>,
  )
  return { version, html }
}

function Page() {
  const session = useSession('s')
  const { phase } = useConnectionState(session)
  const { status, snapshots, currentSnapshotIndex } = useSSE({ canonical: true })
  const messages = useDerivedMessages('s')
  const aside = [useThoughts('s'), useAgentTransitions('s'), useAgentStatus('s')]
  return (
    <SessionProvider session={session} agent="writer">
      <p>{[phase, status, snapshots.length, currentSnapshotIndex, JSON.stringify(aside)].join(' ')}</p>
      <p>{messages.map(({ content }) => content).join()}</p>
      <Inner />
    </SessionProvider>
  )
}

function Inner() {
  const open = useView(transcriptView, { select: (state) => state.open.length })
  const { pending } = useRun()
  return <p>{`${open} ${pending}`}</p>
}
