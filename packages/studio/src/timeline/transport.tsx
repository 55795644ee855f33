import type { LiveLog } from '@millrace/core'
import { goTo } from '../session/cursor.ts'
import { setSpeed, stepCursor, togglePlay, usePlayer } from '../session/play.ts'
import { rowIndexAt } from '../session/row-index.ts'
import { IconButton } from '../ui/controls.tsx'
import { duration } from '../ui/duration.ts'
import { eventNumber } from '../ui/event-number.ts'
import { Icon } from '../ui/icon.tsx'

const speeds = [0.5, 1, 2, 4, 8]

interface TransportProps {
  readonly log: LiveLog
  readonly at: number | undefined
  readonly zoom: number
  readonly onZoom: (zoom: number) => void
  readonly children?: React.ReactNode
}

/** The controls of the cursor (play, step, scrub, speed) and the zoom of the waterfall. */
export function Transport({ log, at, zoom, onZoom, children }: TransportProps) {
  const { playing, speed } = usePlayer()
  return (
    <div className="transport">
      <div className="transport-group">
        <IconButton icon="left" label="Step back (←)" onClick={() => stepCursor(log, at, -1, false)} />
        <IconButton
          icon={playing ? 'pause' : 'play'}
          label={playing ? 'Pause (Space)' : 'Play (Space)'}
          data-testid="play"
          className="play"
          onClick={() => togglePlay(log)}
        />
        <IconButton icon="right" label="Step forward (→)" onClick={() => stepCursor(log, at, 1, false)} />
      </div>
      <Scrubber log={log} at={at} />
      <button
        type="button"
        className="latest-button"
        aria-pressed={at === undefined}
        title="Go to the latest event (Esc)"
        onClick={() => {
          usePlayer.setState({ playing: false })
          goTo(undefined)
        }}
      >
        <Icon name="latest" size={14} />
        Latest
      </button>
      {children}
      <label className="speed">
        <span className="visually-hidden">Speed</span>
        <select value={speed} onChange={(event) => setSpeed(Number(event.target.value))} data-testid="speed">
          {speeds.map((each) => (
            <option key={each} value={each}>
              {each}×
            </option>
          ))}
        </select>
      </label>
      <div className="transport-group zoom">
        <button
          type="button"
          aria-label="Zoom out"
          title="Zoom out"
          disabled={zoom <= 1}
          onClick={() => onZoom(Math.max(1, zoom / 2))}
        >
          −
        </button>
        <button type="button" aria-label="Fit" title="Show everything" onClick={() => onZoom(1)} className="number">
          {zoom === 1 ? 'Fit' : `${Math.round(zoom * 10) / 10}×`}
        </button>
        <button
          type="button"
          aria-label="Zoom in"
          title="Zoom in (Ctrl + wheel)"
          disabled={zoom >= 64}
          onClick={() => onZoom(Math.min(64, zoom * 2))}
        >
          +
        </button>
      </div>
    </div>
  )
}

function Scrubber({ log, at }: { readonly log: LiveLog; readonly at: number | undefined }) {
  const { rows, lastSeq } = log
  const first = rows[0]
  const row = at === undefined ? rows.at(-1) : rows[rowIndexAt(rows, at)]
  const value = at === undefined ? lastSeq : Math.min(at, lastSeq)
  const time = first === undefined || row === undefined ? '' : duration(Math.max(0, row.at - first.at))
  const low = first?.seq ?? 0
  const part = lastSeq === low ? 1 : (value - low) / (lastSeq - low)
  return (
    <>
      <input
        type="range"
        className="scrubber"
        data-testid="scrubber"
        aria-label="Position in the session"
        aria-valuetext={
          at === undefined
            ? `latest, event ${eventNumber(lastSeq)}`
            : `event ${eventNumber(value)} of ${eventNumber(lastSeq)}, ${time}`
        }
        min={low}
        max={lastSeq}
        step={1}
        disabled={rows.length === 0}
        value={value}
        style={{ '--part': `${part * 100}%` } as React.CSSProperties}
        onChange={(event) => {
          usePlayer.setState({ playing: false })
          const next = Number(event.target.value)
          goTo(next >= lastSeq ? undefined : next)
        }}
      />
      <output className="where number" title={time === '' ? undefined : `${time} after the first event`}>
        <b>{eventNumber(value)}</b> / {eventNumber(lastSeq)}
      </output>
    </>
  )
}
