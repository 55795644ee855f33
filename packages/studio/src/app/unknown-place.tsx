import type { ConnectionState } from '@millrace/core'
import { Button, IconButton } from '../ui/controls.tsx'
import { Icon } from '../ui/icon.tsx'
import { useKeyboard } from './keyboard.ts'
import { togglePane, usePane } from './panes.ts'
import { navigate } from './route.ts'

/** Whether the server has no such session, or none that this user may read. */
export function isUnknownSession(state: ConnectionState): boolean {
  return state.phase === 'closed' && state.how === 'refused' && state.problem?.source === '404'
}

/** A link that leads nowhere: to no session of this user, or to no page of this server. */
export function UnknownPlace({ id }: { readonly id: string | undefined }) {
  useKeyboard(undefined)
  const sidebar = usePane('sidebar')
  return (
    <main className="workspace" data-testid="unknown-place">
      {!sidebar && (
        <div className="list-button">
          <IconButton icon="sidebar" label="Show the session list ([)" onClick={() => togglePane('sidebar')} />
        </div>
      )}
      <div className="empty">
        <Icon name="question" size={28} />
        <h1>{id === undefined ? 'There is no such page' : 'There is no such session'}</h1>
        {id === undefined ? (
          <p>
            Nothing is at <code>{location.pathname}</code> on this server.
          </p>
        ) : (
          <p>
            No session of yours has the id <code>{id}</code>. It may have been deleted, or the link may be incomplete.
          </p>
        )}
        <Button tone="accent" icon="plus" onClick={() => navigate({ session: undefined, unknown: false })}>
          New session
        </Button>
      </div>
    </main>
  )
}
