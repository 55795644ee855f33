import { useSSE } from '@millrace/react'
import { useCallback, useEffect, useRef, useState } from 'react'
import { rendered, report } from './scene.ts'

interface ChatContentEvent {
  type: 'content'
  content: string
}
interface ChatDoneEvent {
  type: 'done'
  content?: string
}
type ChatEvent = ChatContentEvent | ChatDoneEvent
interface Said {
  content: string
}

const url = '/sessions/s/chat'

/** The plan/execute document's "broken" component: the callback is new with every render and closes over the state it needs. */
export function Broken() {
  rendered('page')
  const [streamingContent, setStreamingContent] = useState('')
  const [messages, setMessages] = useState<readonly Said[]>([])
  const { connect, status } = useSSE<ChatEvent>({
    onMessage: (event) => {
      if (event.type === 'content') {
        setStreamingContent((prev) => prev + event.content)
      }
      if (event.type === 'done') {
        setMessages((prev) => [...prev, { content: streamingContent }])
      }
    },
  })
  const handleSend = (message: string) => {
    connect(url, { message })
  }
  return <Shown send={handleSend} connect={connect} streaming={streamingContent} messages={messages} status={status} />
}

/** The plan/execute document's "correct" component: a ref synced in an effect, a callback without dependencies. */
export function Correct() {
  rendered('page')
  const [streamingContent, setStreamingContent] = useState('')
  const [messages, setMessages] = useState<readonly Said[]>([])
  const streamingContentRef = useRef('')

  useEffect(() => {
    streamingContentRef.current = streamingContent
  }, [streamingContent])

  const { connect, status } = useSSE<ChatEvent>({
    onMessage: useCallback((event: ChatEvent) => {
      switch (event.type) {
        case 'content':
          setStreamingContent((prev) => prev + event.content)
          break
        case 'done': {
          // Use ref to access latest streaming content
          const finalContent = event.content || streamingContentRef.current
          setMessages((prev) => [...prev, { content: finalContent }])
          break
        }
      }
    }, []),
  })
  const handleSend = (message: string) => {
    connect(url, { message })
  }
  return <Shown send={handleSend} connect={connect} streaming={streamingContent} messages={messages} status={status} />
}

function Shown(props: {
  send: (message: string) => void
  connect: unknown
  streaming: string
  messages: readonly Said[]
  status: string
}) {
  const { send, connect, streaming, messages, status } = props
  const first = useRef(connect)
  report.values.connectIsStable = first.current === connect
  report.values.streaming = streaming
  report.values.messages = messages
  report.values.status = status
  return (
    <button type="button" onClick={() => send('hello')}>
      Send
    </button>
  )
}
