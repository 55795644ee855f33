import type { Item, Printed, SessionInfo, Transcript } from '@millrace/core'
import { useEffect, useState } from 'react'

/** The first page: recorded sessions on the left, what was said on the right. */
export function App() {
  const [sessions, setSessions] = useState<readonly SessionInfo[]>([])
  const [selected, setSelected] = useState<string>()
  const [said, setSaid] = useState<Printed<Transcript>>()
  useEffect(() => {
    void get<{ sessions: SessionInfo[] }>('sessions').then(({ sessions: listed }) => {
      setSessions(listed)
      setSelected(listed[0]?.id)
    })
  }, [])
  useEffect(() => {
    if (selected !== undefined) void get<Printed<Transcript>>(`sessions/${selected}/views/transcript`).then(setSaid)
  }, [selected])
  return (
    <main>
      <nav aria-label="Sessions">
        <h1>Millrace</h1>
        {sessions.length === 0 && <p className="empty">No session has been recorded yet.</p>}
        {sessions.map(({ id, events }) => (
          <button type="button" key={id} aria-current={id === selected} onClick={() => setSelected(id)}>
            {id.slice(0, 8)} <small>{events} events</small>
          </button>
        ))}
      </nav>
      <section aria-label="Conversation">
        {said?.settled.map((item) => (
          <Row key={item.key} item={item} />
        ))}
        {said?.open.map((item) => (
          <Row key={item.key} item={item} />
        ))}
      </section>
    </main>
  )
}

function Row({ item }: { item: Item }) {
  if (item.kind === 'foreign') {
    return (
      <article className="foreign" data-testid="foreign">
        <h2>Could not be read ({item.reason})</h2>
        <code>{item.raw}</code>
      </article>
    )
  }
  if (item.kind !== 'message' || item.text === '') return null
  return (
    <article data-testid={`message-${item.id}`}>
      <h2 data-testid="message-author">{item.author}</h2>
      <p>{item.text}</p>
    </article>
  )
}

async function get<T>(path: string): Promise<T> {
  const response = await fetch(path)
  return response.json() as Promise<T>
}
