import { type Item, itemsOf, type Message, openInterrupts, transcriptView } from '@millrace/core'
import { SessionProvider, useConnectionState, useRun, useSession, useView } from '@millrace/react'
import { memo, type SyntheticEvent, useState } from 'react'

export function Chat({ id, agent }: { id: string; agent: string }) {
  const session = useSession(id)
  const { phase } = useConnectionState(session)
  return (
    <SessionProvider session={session} agent={agent}>
      <header>
        <strong>{agent}</strong>
        <span>{phase === 'waiting' ? 'connection lost, reconnecting …' : ''}</span>
      </header>
      <Conversation />
      <Composer />
    </SessionProvider>
  )
}

function Conversation() {
  // Unchanged items stay the same objects, so a token renders only the message that it belongs to.
  const items = useView(transcriptView, { select: itemsOf })
  return (
    <main>
      <div role="log">
        {items.map((item) => (
          <Row key={item.key} item={item} />
        ))}
      </div>
    </main>
  )
}

const Row = memo(function Row({ item }: { item: Item }) {
  if (item.kind === 'message') return <MessageRow message={item} />
  if (item.kind === 'transfer') return <hr data-label={`${item.from} hands over to ${item.to}`} />
  if (item.kind === 'end' && item.outcome !== 'done') return <p role="status">{item.error?.message ?? item.outcome}</p>
  return null
})

function MessageRow({ message: { author, role, text, thoughts, parts } }: { message: Message }) {
  const tools = parts.filter((part) => part.kind === 'tool')
  return (
    <article className={role} style={{ '--hue': hue(author) } as object}>
      {role === 'user' ? null : <b>{author}</b>}
      {thoughts === '' ? null : <em>{thoughts}</em>}
      {tools.map(({ key, name, status }) => (
        <code key={key}>{`${name}: ${status}`}</code>
      ))}
      {text === '' ? null : <p>{text}</p>}
    </article>
  )
}

function Composer() {
  const { send, stop, resume, pending, error } = useRun()
  const running = useView(transcriptView, { select: ({ latest }) => latest?.status === 'running' })
  const [asked] = useView(transcriptView, { select: openInterrupts })
  const [text, setText] = useState('')
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    if (asked !== undefined) void resume([{ interrupt: asked.id, status: 'resolved', payload: text }]).catch(() => {})
    else void send(text).catch(() => {}) // `error` below shows the failure
    setText('')
  }
  return (
    <form onSubmit={submit}>
      {error === undefined ? null : <p role="alert">{error.message}</p>}
      <input
        aria-label="Message"
        placeholder={asked?.message ?? 'Ask something'}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {running ? (
        <button type="button" onClick={() => void stop().catch(() => {})}>
          Stop
        </button>
      ) : (
        <button type="submit" disabled={pending || text === ''}>
          Send
        </button>
      )}
    </form>
  )
}

const hue = (name: string): number => [...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 360, 7)
