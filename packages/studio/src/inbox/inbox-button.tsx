import { useSessions } from '../session/sessions.ts'
import { IconButton } from '../ui/controls.tsx'
import { showInbox, waitingIn } from './inbox-store.ts'

/** Opens the inbox, and says how many sessions wait. */
export function InboxButton() {
  const waiting = useSessions(({ sessions }) => waitingIn(sessions).length)
  const label = waiting === 0 ? 'Inbox (i)' : `Inbox (i): ${waiting} waiting`
  return (
    <span className="inbox-button">
      <IconButton icon="inbox" label={label} onClick={showInbox} data-testid="open-inbox" />
      {waiting > 0 && (
        <span className="inbox-count" aria-hidden="true" data-testid="inbox-count">
          {waiting > 99 ? '99+' : waiting}
        </span>
      )}
    </span>
  )
}
