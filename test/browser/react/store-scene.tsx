import type { AdkEvent, DerivedMessage } from '@millrace/core'
import {
  ChatStoreProvider,
  createChatStore,
  useAgentStatus,
  useAgentTransitions,
  useDerivedMessages,
  useSSE,
  useThoughts,
} from '@millrace/react'
import { memo, useState } from 'react'
import { rendered, report } from './scene.ts'

/** The documented chat front end: the canonical stream into the store, messages derived from it. */
export function Store() {
  const [store] = useState(() => createChatStore())
  return (
    <ChatStoreProvider store={store}>
      <Feed add={store.getState().addRawEvent} />
      <Messages />
      <Aside />
    </ChatStoreProvider>
  )
}

function Feed({ add }: { add: (session: string, event: AdkEvent) => void }) {
  const { connect, status, lastEvent } = useSSE({
    canonical: true,
    onMessage: ({ rawEvent }) => add('s', rawEvent),
  })
  report.values.status = status
  report.values.lastEvent = lastEvent?.messageId
  return (
    <button type="button" onClick={() => connect('/run_sse', {})}>
      Send
    </button>
  )
}

function Messages() {
  rendered('list')
  const messages = useDerivedMessages('s')
  report.values.messages = messages
  return messages.map((message) => <Message key={message.id} message={message} />)
}

const Message = memo(function Message({ message }: { message: DerivedMessage }) {
  rendered(message.id)
  return <p>{message.content}</p>
})

function Aside() {
  rendered('aside')
  const thoughts = useThoughts('s')
  const transitions = useAgentTransitions('s')
  const status = useAgentStatus('s')
  Object.assign(report.values, { thoughts, transitions, agents: status })
  return null
}
