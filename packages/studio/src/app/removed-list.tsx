import { useEffect } from 'react'
import { useRemoved } from '../session/removed.ts'
import { bringBack } from '../session/session-actions.ts'
import { titleOf } from '../session/sessions.ts'
import { Button } from '../ui/controls.tsx'
import { Time } from '../ui/time.tsx'
import { showFailure } from './toast.tsx'

/** The sessions that were deleted in the last ten minutes. The server keeps them, so that a reload loses none. */
export function RemovedList() {
  const { sessions, refresh } = useRemoved()
  useEffect(() => void refresh(), [refresh])
  if (sessions.length === 0) return null
  return (
    <section className="removed-list" aria-labelledby="removed-title" data-testid="removed">
      <h3 id="removed-title">Recently deleted</h3>
      <p className="faint">They can be restored for ten minutes.</p>
      <ul>
        {sessions.map((info) => (
          <li key={info.id}>
            <span className="ellipsis" title={titleOf(info)}>
              {titleOf(info)}
            </span>
            <span className="faint">
              <Time at={info.createdAt} />
            </span>
            <Button onClick={() => showFailure(bringBack(info.id))}>Restore</Button>
          </li>
        ))}
      </ul>
    </section>
  )
}
