// The code of packages/react/README.md, compiled: react-readme.test.ts holds the two together.
import { type Item, itemsOf, studio, transcriptView } from '@millrace/core'
import {
  createClient,
  MillraceProvider,
  SessionProvider,
  useChatStream,
  useRun,
  useSession,
  useSSE,
  useView,
} from '@millrace/react'
import { memo, useState } from 'react'

const client = createClient() // the page's own origin; { baseUrl, headers } for another, started with --origin of the page

export function Page() {
  return (
    <MillraceProvider client={client}>
      <Conversation id="s1" agent="research" />
    </MillraceProvider>
  )
}

function Conversation({ id, agent }: { id: string; agent: string }) {
  const session = useSession(id)
  return (
    <SessionProvider session={session} agent={agent}>
      <Messages />
      <Send />
    </SessionProvider>
  )
}

function Messages() {
  const items = useView(transcriptView, { select: itemsOf })
  return items.map((item) => <Row key={item.key} item={item} />)
}

const Row = memo(function Row({ item }: { item: Item }) {
  return item.kind === 'message' && item.text !== '' ? <p>{`${item.author}: ${item.text}`}</p> : null
})

function Send() {
  const { send, stop, pending } = useRun()
  const running = useView(transcriptView, { select: ({ latest }) => latest?.status === 'running' })
  return running ? (
    <button type="button" onClick={() => void stop()}>
      Stop
    </button>
  ) : (
    <button type="button" disabled={pending} onClick={() => void send('Research quantum computing')}>
      Send
    </button>
  )
}

interface ChatEvent {
  type: 'content' | 'done'
  content?: string
}

export function Streamed() {
  const [text, setText] = useState('')
  const { connect, close, status, error } = useSSE<ChatEvent>({
    onMessage: (event) => setText((before) => before + (event.content ?? '')),
  })
  return (
    <>
      <button type="button" onClick={() => connect('/sessions/s1/chat', { message: 'Hello' })}>
        Send
      </button>
      <button type="button" onClick={close}>
        {status}
      </button>
      <p>{error?.message ?? text}</p>
    </>
  )
}

export function Debugger({ project }: { project: string }) {
  const { connect, snapshots, currentSnapshotIndex, setCurrentSnapshotIndex, stateKeys } = useSSE({ dialect: studio })
  const current = snapshots[currentSnapshotIndex]
  return (
    <>
      <button type="button" onClick={() => connect(`/api/projects/${project}/stream?input=Hello`)}>
        Run
      </button>
      <input
        type="range"
        max={snapshots.length - 1}
        value={currentSnapshotIndex}
        onChange={(event) => setCurrentSnapshotIndex(event.target.valueAsNumber)}
      />
      <pre>{JSON.stringify(current?.outputState, null, 2)}</pre>
      <p>{[...stateKeys].map(([edge, keys]) => `${edge}: ${keys.join()}`).join('; ')}</p>
    </>
  )
}

export function Canonical() {
  const { messages, agentStatus, sendMessage, error } = useChatStream({ appName: 'research', sessionId: 's1' })
  return (
    <>
      <button type="button" onClick={() => void sendMessage('Hello')}>
        Send
      </button>
      {messages.map(({ id, content, metadata: { author } }) => (
        <p key={id}>{`${author} (${agentStatus[author] ?? 'idle'}): ${content}`}</p>
      ))}
      {error && <p role="alert">{error.message}</p>}
    </>
  )
}
