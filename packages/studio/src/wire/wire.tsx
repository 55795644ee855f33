import { type DialectName, dialectNames } from '@millrace/core'
import { useView } from '@millrace/react'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { PanelProps } from '../app/panels.ts'
import { root } from '../app/route.ts'
import { goTo } from '../session/cursor.ts'
import { isFile } from '../session/files.ts'
import { Button, Empty } from '../ui/controls.tsx'
import { CopyButton } from '../ui/copy.tsx'
import { Icon } from '../ui/icon.tsx'
import { asCurl, countUpTo, framesOf, nameOf, pretty, textOf, type WireFrame } from './frames.ts'
import './wire.css'

const rowCount = { name: 'wire-rows', initial: 0, apply: (count: number) => count + 1 }

/** The stream itself, in whichever dialect a client speaks, up to the cursor. */
export function WirePanel({ session, at }: PanelProps) {
  const rows = useView(session.log, rowCount)
  const [dialect, setDialect] = useState<DialectName>('ag-ui')
  const [words, setWords] = useState('')
  const [raw, setRaw] = useState(false)
  const [open, setOpen] = useState<number>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the frames grow with the rows
  const frames = useMemo(() => {
    const all = framesOf(session.log, session.id, dialect)
    const upTo = at === undefined ? all : all.slice(0, countUpTo(all, at))
    const wanted = words.toLowerCase()
    return wanted === '' ? upTo.slice() : upTo.filter((frame) => textOf(frame).toLowerCase().includes(wanted))
  }, [session, dialect, at, words, rows])
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
        <label className="search">
          <Icon name="search" size={14} />
          <input
            type="search"
            placeholder="Filter frames"
            aria-label="Filter frames"
            value={words}
            onChange={(event) => setWords(event.target.value)}
          />
        </label>
        <Button aria-pressed={raw} onClick={() => setRaw(!raw)} title="As it is on the wire, or readable">
          {raw ? 'Raw' : 'Pretty'}
        </Button>
      </div>
      <div className="wire-line">
        <span className="number">
          {frames.length} {frames.length === 1 ? 'frame' : 'frames'}
        </span>
        <span className="spacer" />
        {!isFile(session.id) && <LabelledCopy label="as curl" text={() => asCurl(root, session.id, dialect, 0)} />}
        <LabelledCopy label="all" text={() => frames.map(textOf).join('')} />
      </div>
      {frames.length === 0 ? (
        <Empty icon="wire" title={words === '' ? 'No frames yet' : 'No frame contains that'}>
          {words === ''
            ? `Nothing of this session is told in ${dialect} up to this moment.`
            : 'Try a type, an id or a word of the text.'}
        </Empty>
      ) : (
        <FrameList
          key={dialect}
          frames={frames}
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

interface FrameListProps {
  readonly frames: readonly WireFrame[]
  readonly at: number | undefined
  readonly raw: boolean
  readonly open: number | undefined
  readonly onOpen: (index: number | undefined) => void
  readonly curl: (after: number) => string
}

function FrameList({ frames, at, raw, open, onOpen, curl }: FrameListProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: frames.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 30,
    overscan: 12,
  })
  const last = frames.length - 1
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list follows the cursor, not the reader's own scrolling
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
        <span className="frame-data ellipsis">{(data === '' ? `: ${comment ?? ''}` : data).slice(0, 300)}</span>
      </button>
      {open && (
        <div className="frame-body">
          <pre className="scroll">{raw ? textOf(frame) : data === '' ? textOf(frame) : pretty(data)}</pre>
          <div className="frame-actions">
            <LabelledCopy label="frame" text={() => textOf(frame)} />
            <LabelledCopy label="data" text={() => data} />
            <LabelledCopy label="curl from here" text={() => curl(frame.seq - 1)} />
            <span className="spacer" />
            <Button onClick={() => goTo(frame.seq)}>Go to event {frame.seq}</Button>
          </div>
        </div>
      )}
    </div>
  )
}
