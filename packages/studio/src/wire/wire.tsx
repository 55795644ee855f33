import { type DialectName, dialectNames } from '@millrace/core'
import type { SessionHandle } from '@millrace/react'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useDeferredValue, useEffect, useMemo, useReducer, useRef, useState, useSyncExternalStore } from 'react'
import type { PanelProps } from '../app/panels.ts'
import { root } from '../app/route.ts'
import { goTo } from '../session/cursor.ts'
import { isFile } from '../session/files.ts'
import { openStep } from '../step/open-step.ts'
import { Button, Empty } from '../ui/controls.tsx'
import { CopyButton } from '../ui/copy.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { asCurl, countUpTo, framesOf, nameOf, pretty, type WireFrame, wireTextOf } from './frames.ts'
import './wire.css'

/** The frames of the session up to the cursor, in any dialect. */
export function WirePanel({ session, at }: PanelProps) {
  const [dialect, setDialect] = useState<DialectName>('ag-ui')
  const [words, setWords] = useState('')
  const [raw, setRaw] = useState(false)
  const [open, setOpen] = useState<number>()
  const { printed, size, done } = useFrames(session, dialect)
  const wanted = useDeferredValue(words.toLowerCase())
  // biome-ignore lint/correctness/useExhaustiveDependencies: the array is always the same one, so its size shows the change
  const found = useMemo(
    () => (wanted === '' ? printed : printed.filter((frame) => wireTextOf(frame).toLowerCase().includes(wanted))),
    [printed, size, wanted],
  )
  const count = at === undefined ? found.length : countUpTo(found, at)
  return (
    <div className="wire-panel">
      <div className="panel-bar">
        <select
          aria-label="Dialect"
          value={dialect}
          data-testid="wire-dialect"
          onChange={(event) => {
            setOpen(undefined)
            setDialect(dialectNames.find((name) => name === event.target.value) ?? 'ag-ui')
          }}
        >
          {dialectNames.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <SearchField label="Filter frames" value={words} onChange={setWords} />
        <Button aria-pressed={raw} onClick={() => setRaw(!raw)} title="Switch between raw and formatted frames">
          {raw ? 'Raw' : 'Pretty'}
        </Button>
      </div>
      <div className="wire-line">
        <span className="number">
          {count.toLocaleString('en')} {count === 1 ? 'frame' : 'frames'}
          {!done && <span className="faint"> so far …</span>}
        </span>
        <span className="spacer" />
        {!isFile(session.id) && <LabelledCopy label="as curl" text={() => asCurl(root, session.id, dialect, 0)} />}
        <LabelledCopy label="all" text={() => found.slice(0, count).map(wireTextOf).join('')} />
      </div>
      {count === 0 ? (
        <Empty icon="wire" title={words === '' ? 'No frames yet' : 'No matching frames'}>
          {words === ''
            ? `This session has no ${dialect} frames up to this moment.`
            : 'Try a type, an id or a word from the text.'}
        </Empty>
      ) : (
        <FrameList
          key={dialect}
          frames={found}
          count={count}
          at={at}
          raw={raw}
          open={open}
          onOpen={setOpen}
          curl={(seq) => asCurl(root, session.id, dialect, seq)}
        />
      )}
    </div>
  )
}

function LabelledCopy({ label, text }: { readonly label: string; readonly text: () => string }) {
  return (
    <span className="labelled-copy">
      <CopyButton text={text} label={`Copy ${label}`} />
      <span className="faint">{label}</span>
    </span>
  )
}

/** All frames of a session. Missing tokens are loaded, and the frames are encoded in several passes. */
function useFrames(session: SessionHandle, dialect: DialectName) {
  const { log, id } = session
  const rows = useSyncExternalStore(log.subscribe, () => log.rows)
  const [, printMore] = useReducer((turn: number) => turn + 1, 0)
  useEffect(() => void session.fill(), [session])
  const { frames, done } = framesOf(log, id, dialect)
  useEffect(() => {
    if (done) return
    const frame = requestAnimationFrame(printMore)
    return () => cancelAnimationFrame(frame)
  })
  return { printed: frames, size: frames.length, done, rows }
}

interface FrameListProps {
  readonly frames: readonly WireFrame[]
  /** How many of them are up to the cursor. */
  readonly count: number
  readonly at: number | undefined
  readonly raw: boolean
  readonly open: number | undefined
  readonly onOpen: (index: number | undefined) => void
  readonly curl: (after: number) => string
}

function FrameList({ frames, count, at, raw, open, onOpen, curl }: FrameListProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => 30,
    overscan: 12,
  })
  const last = count - 1
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls only when the cursor moves
  useEffect(() => {
    if (at !== undefined) virtual.scrollToIndex(last, { align: 'end' })
  }, [at])
  return (
    <div className="frames scroll" ref={scroller}>
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
                raw={raw}
                open={open === index}
                onToggle={() => onOpen(open === index ? undefined : index)}
                curl={curl}
              />
            </div>
          )
        })}
      </div>
    </div>
  )
}

/** The start of the data without its type, which the row already shows. */
function briefly(data: string): string {
  return data.slice(0, 300).replace(/^\{"(?:type|kind)":"[^"]*",?/, '{')
}

interface FrameRowProps {
  readonly frame: WireFrame
  readonly raw: boolean
  readonly open: boolean
  readonly onToggle: () => void
  readonly curl: (after: number) => string
}

function FrameRow({ frame, raw, open, onToggle, curl }: FrameRowProps) {
  const { data, comment } = frame.frame
  return (
    <div className={`frame ${open ? 'open' : ''}`} data-testid="wire-frame">
      <button type="button" className="frame-line" aria-expanded={open} onClick={onToggle}>
        <span className="number frame-seq">{frame.seq}</span>
        <span className="frame-name ellipsis">{nameOf(frame)}</span>
        <span className="frame-data ellipsis">{data === '' ? `: ${comment ?? ''}` : briefly(data)}</span>
      </button>
      {open && (
        <div className="frame-body">
          <pre className="scroll">{raw ? wireTextOf(frame) : data === '' ? wireTextOf(frame) : pretty(data)}</pre>
          <div className="frame-actions">
            <LabelledCopy label="frame" text={() => wireTextOf(frame)} />
            <LabelledCopy label="data" text={() => data} />
            <LabelledCopy label="curl from here" text={() => curl(frame.seq - 1)} />
            <span className="spacer" />
            <Button onClick={() => goTo(frame.seq)}>Go to event {frame.seq}</Button>
            <Button onClick={() => openStep(frame.seq)}>Open the step</Button>
          </div>
        </div>
      )}
    </div>
  )
}
