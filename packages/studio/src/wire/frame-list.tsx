import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { goTo } from '../session/cursor.ts'
import { openStep } from '../step/open-step.ts'
import { Button } from '../ui/controls.tsx'
import { LabelledCopy } from '../ui/copy.tsx'
import { duration, moment } from '../ui/duration.ts'
import { eventNumber } from '../ui/event-number.ts'
import { usePressed } from '../ui/pressed.ts'
import { TextBlock } from '../ui/text-block.tsx'
import { briefly, pretty, sizeOf, type WireFrame, wireTextOf } from './frames.ts'

interface FrameListProps {
  readonly frames: readonly WireFrame[]
  /** How many of them are up to the cursor. */
  readonly count: number
  /** The time of the first event of the session. */
  readonly began: number
  readonly at: number | undefined
  /** All frames are encoded. Until then the last one up to the cursor is not known. */
  readonly done: boolean
  readonly raw: boolean
  readonly curl: (after: number) => string
}

/** Pixels from the end within which the list counts as being at its end. */
const near = 24

/** The frames as a table. It stays at the newest frame, or at the cursor, unless the reader has scrolled up. */
export function FrameList({ frames, count, began, at, done, raw, curl }: FrameListProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const [open, setOpen] = useState<WireFrame>()
  const [following, setFollowing] = useState(true)
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => 30,
    overscan: 12,
  })
  const follow = (): void => {
    if (following && count > 0) virtual.scrollToIndex(count - 1, { align: 'end' })
  }
  const pressed = usePressed(scroller, follow)
  // A move of the cursor is a wish to see that moment.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs whenever the cursor moves
  useEffect(() => setFollowing(true), [at])
  // A second dialect below it, or the timeline, takes some of its room: then its end is further down.
  const height = virtual.scrollRect?.height
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list moves only when its end does
  useLayoutEffect(() => {
    if (!pressed.current) follow()
  }, [count, at, done, following, height])
  const current = frames[count - 1]?.seq
  return (
    <div className="frames-place">
      <div className="frame-line frame-heads" aria-hidden="true">
        <span className="frame-seq">#</span>
        <span className="frame-time">time</span>
        <span className="frame-delta">Δ</span>
        <span className="frame-size">size</span>
        <span className="frame-name">type</span>
        <span className="frame-data">data</span>
      </div>
      <div
        className="frames scroll"
        ref={scroller}
        onWheel={(event) => event.deltaY < 0 && setFollowing(false)}
        onScroll={({ currentTarget: { scrollHeight, clientHeight, scrollTop } }) => {
          if (scrollHeight - clientHeight - scrollTop < near) setFollowing(true)
        }}
        // A press on the scroll bar. On a row it would put the button below over that row before the click has ended.
        onPointerDown={({ target, currentTarget }) => target === currentTarget && setFollowing(false)}
      >
        <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {virtual.getVirtualItems().map(({ index, start, key }) => {
            const frame = frames[index]
            if (frame === undefined) return null
            return (
              <div
                key={key}
                data-index={index}
                ref={virtual.measureElement}
                className="frame-place"
                style={{ transform: `translateY(${start}px)` }}
              >
                <FrameRow
                  frame={frame}
                  before={frames[index - 1]}
                  began={began}
                  current={at !== undefined && frame.seq === current}
                  raw={raw}
                  open={open === frame}
                  onToggle={() => {
                    setFollowing(false)
                    setOpen(open === frame ? undefined : frame)
                  }}
                  curl={curl}
                />
              </div>
            )
          })}
        </div>
      </div>
      {!following && (
        <div className="jump">
          <Button icon="down" data-testid="wire-latest" onClick={() => setFollowing(true)}>
            {at === undefined ? 'Latest' : 'Cursor'}
          </Button>
        </div>
      )}
    </div>
  )
}

interface FrameRowProps {
  readonly frame: WireFrame
  readonly before: WireFrame | undefined
  readonly began: number
  readonly current: boolean
  readonly raw: boolean
  readonly open: boolean
  readonly onToggle: () => void
  readonly curl: (after: number) => string
}

function FrameRow({ frame, before, began, current, raw, open, onToggle, curl }: FrameRowProps) {
  const { data, comment } = frame.frame
  return (
    <div
      className={`frame ${open ? 'open' : ''} ${current ? 'current' : ''}`}
      data-testid="wire-frame"
      data-seq={frame.seq}
      aria-current={current ? 'true' : undefined}
    >
      <button
        type="button"
        className="frame-line"
        title={`${frame.name}: ${open ? 'show one line' : 'show all of it'}`}
        aria-expanded={open}
        onClick={onToggle}
      >
        <span className="number frame-seq">{frame.seq}</span>
        <span className="number frame-time">{moment(Math.max(0, frame.at - began))}</span>
        <span className="number frame-delta">
          {before === undefined ? '' : `+${duration(Math.max(0, frame.at - before.at))}`}
        </span>
        <span className="number frame-size">{sizeOf(frame)}</span>
        <span className="frame-name ellipsis">{frame.name}</span>
        <span className="frame-data ellipsis">{data === '' ? `: ${comment ?? ''}` : briefly(data)}</span>
      </button>
      {open && (
        <div className="frame-body">
          <TextBlock label={`Frame ${frame.name}, event ${eventNumber(frame.seq)}`} className="scroll">
            {raw || data === '' ? wireTextOf(frame) : pretty(data)}
          </TextBlock>
          <div className="frame-actions">
            <LabelledCopy label="frame" text={() => wireTextOf(frame)} />
            <LabelledCopy label="data" text={() => data} />
            <LabelledCopy label="curl from here" text={() => curl(frame.seq - 1)} />
            <span className="spacer" />
            <Button onClick={() => goTo(frame.seq)}>Go to event {eventNumber(frame.seq)}</Button>
            <Button onClick={() => openStep(frame.seq)}>Open the step</Button>
          </div>
        </div>
      )}
    </div>
  )
}
