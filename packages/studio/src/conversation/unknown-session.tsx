import { navigate } from '../app/route.ts'
import { Button } from '../ui/controls.tsx'
import { Icon } from '../ui/icon.tsx'

/** A link to a session that is not on this server, or that belongs to another user. */
export function UnknownSession({ id }: { readonly id: string }) {
  return (
    <div className="empty" data-testid="unknown-session">
      <Icon name="question" size={28} />
      <h1>There is no such session</h1>
      <p>
        No session of yours has the id <code>{id}</code>. It may have been deleted, or the link may be incomplete.
      </p>
      <Button tone="accent" icon="plus" onClick={() => navigate({ session: undefined })}>
        New session
      </Button>
    </div>
  )
}
