import type { SessionInfo, Transcript } from '@millrace/core'
import { useEffect, useState } from 'react'

/** The first page: recorded sessions on the left, what was said on the right. */
export function App() {
  const [sessions, setSessions] = useState<readonly SessionInfo[]>([])
  const [selected, setSelected] = useState<string>()
  const [said, setSaid] = useState<Transcript>()
  useEffect(() => {
    void get<{ sessions: SessionInfo[] }>('sessions').then(({ sessions: listed }) => {
      setSessions(listed)
      setSelected(listed[0]?.id)
    })
  }, [])
  useEffect(() => {
    if (selected !== undefined) void get<Transcript>(`sessions/${selected}/views/transcript`).then(setSaid)
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
        {said?.messages.map(({ id, author, text }) => (
          <article key={id} data-testid={`message-${id}`}>
            <h2 data-testid="message-author">{author}</h2>
            <p>{text}</p>
          </article>
        ))}
        {said?.unread.map(({ seq, raw, reason }) => (
          <article key={seq} className="foreign" data-testid="foreign">
            <h2>Could not be read ({reason})</h2>
            <code>{raw}</code>
          </article>
        ))}
      </section>
    </main>
  )
}

async function get<T>(path: string): Promise<T> {
  const response = await fetch(path)
  return response.json() as Promise<T>
}
