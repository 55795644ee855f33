import type { SessionHandle } from '@millrace/react'
import { useRoute } from '../app/route.ts'
import { goTo } from '../session/cursor.ts'
import { stepCursor, togglePlay, usePlayer } from '../session/play.ts'
import { rowIndexAt } from '../session/row-index.ts'
import { Button, IconButton } from '../ui/controls.tsx'
import { duration } from '../ui/duration.ts'
import { eventNumber } from '../ui/event-number.ts'

/** Shown at an earlier moment: which event it is, and the way back to the latest. */
export function MomentBar({ session }: { readonly session: SessionHandle }) {
  const { log } = session
  const at = useRoute('at')
  const { playing } = usePlayer()
  if (at === undefined) return null
  const row = log.rows[rowIndexAt(log.rows, at)]
  const first = log.rows[0]
  return (
    <div className="moment" role="status" data-testid="moment-bar">
      <IconButton icon="left" label="Step back (←)" onClick={() => stepCursor(log, at, -1, false)} />
      <IconButton
        icon={playing ? 'pause' : 'play'}
        label={playing ? 'Pause (Space)' : 'Play (Space)'}
        onClick={() => togglePlay(log)}
      />
      <IconButton icon="right" label="Step forward (→)" onClick={() => stepCursor(log, at, 1, false)} />
      <span className="number">
        Viewing event <b>{eventNumber(at)}</b> of {eventNumber(log.lastSeq)}
        {row !== undefined && first !== undefined && (
          <span className="moment-time"> · {duration(Math.max(0, row.at - first.at))} in</span>
        )}
      </span>
      <Button icon="latest" onClick={() => goTo(undefined)} data-testid="back-to-latest">
        Latest
      </Button>
    </div>
  )
}
