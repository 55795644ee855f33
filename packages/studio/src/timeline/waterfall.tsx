import {
  memo,
  type PointerEvent,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type WheelEvent,
} from 'react'
import { goTo } from '../session/cursor.ts'
import { usePlayer } from '../session/play.ts'
import { agentColour } from '../ui/agent-colour.ts'
import { Icon } from '../ui/icon.tsx'
import { Axis } from './axis.tsx'
import { BarView } from './bar.tsx'
import type { WaterfallLane, WaterfallLayout } from './lanes.ts'
import type { TimelineMark } from './marks.ts'
import { isNow, margin, type PlacedBar, place, xOf } from './place.ts'
import type { Scale } from './scale.ts'

interface WaterfallProps {
  readonly picture: WaterfallLayout
  readonly scale: Scale
  readonly marks: readonly TimelineMark[]
  readonly at: number | undefined
  readonly zoom: number
  readonly onZoom: (zoom: number) => void
}

const rowHeight = 26
const axisHeight = 24
/** Bars are drawn this many pixels beyond the visible part, so that scrolling by less draws nothing. */
const reach = 400

export function Waterfall({ picture, scale, marks, at, zoom, onZoom }: WaterfallProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const { view, measure } = useWindow(scroller)
  const width = view.width * zoom - 16
  const x = useCallback((seq: number): number => xOf(scale, width, seq), [scale, width])
  const placed = useMemo(() => place(picture, scale, width), [picture, scale, width])
  const head = at === undefined ? width - margin : x(at)
  useEffect(() => {
    const element = scroller.current
    if (element === null || zoom === 1) return
    const { scrollLeft, clientWidth } = element
    if (head < scrollLeft || head > scrollLeft + clientWidth - 24) element.scrollLeft = head - clientWidth * 0.6
  }, [head, zoom])
  const scrub = (event: PointerEvent<HTMLElement>): void => {
    const { left } = event.currentTarget.getBoundingClientRect()
    usePlayer.setState({ playing: false })
    goTo(scale.seqAt(((event.clientX - left - margin) / (width - 2 * margin)) * scale.total))
  }
  const onWheel = (event: WheelEvent): void => {
    if (event.ctrlKey) onZoom(Math.min(64, Math.max(1, zoom * (event.deltaY < 0 ? 1.25 : 0.8))))
  }
  return (
    <div className="waterfall scroll">
      <LaneNames lanes={picture.lanes} />
      <div className="tracks" ref={scroller} onScroll={measure} onWheel={onWheel}>
        <div
          className="canvas"
          style={{ width, height: picture.rows * rowHeight + axisHeight }}
          onPointerDown={(event) => {
            if (event.button !== 0 || (event.target as Element).closest('button') !== null) return
            event.currentTarget.setPointerCapture(event.pointerId)
            scrub(event)
          }}
          onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && scrub(event)}
        >
          <Tracks
            lanes={picture.lanes}
            placed={placed}
            marks={marks}
            scale={scale}
            width={width}
            x={x}
            from={view.left - reach}
            to={view.left + view.width + reach}
          />
          {at !== undefined && (
            <>
              <div className="veil" style={{ transform: `translateX(${head}px)` }} />
              <Now placed={placed} at={at} />
            </>
          )}
          <div
            className={`playhead ${at === undefined ? 'latest' : ''}`}
            style={{ transform: `translateX(${head}px)` }}
          />
        </div>
      </div>
    </div>
  )
}

/** The visible part, rounded to steps, so that scrolling by a pixel renders nothing. */
function useWindow(scroller: React.RefObject<HTMLDivElement | null>) {
  const [view, setView] = useState({ left: 0, width: 800 })
  const measure = useCallback((): void => {
    const element = scroller.current
    if (element === null) return
    const left = Math.round(element.scrollLeft / (reach / 2)) * (reach / 2)
    const width = Math.max(80, element.clientWidth)
    setView((before) => (before.left === left && before.width === width ? before : { left, width }))
  }, [scroller])
  useLayoutEffect(() => {
    // The observer calls after the first paint, which would be as wide as the guess above.
    measure()
    const observer = new ResizeObserver(measure)
    if (scroller.current !== null) observer.observe(scroller.current)
    return () => observer.disconnect()
  }, [measure, scroller])
  return { view, measure }
}

interface TracksProps {
  readonly lanes: readonly WaterfallLane[]
  readonly placed: readonly PlacedBar[]
  readonly marks: readonly TimelineMark[]
  readonly scale: Scale
  readonly width: number
  readonly x: (seq: number) => number
  readonly from: number
  readonly to: number
}

/** Everything that does not move with the cursor, so that a step through a long session does not render every bar. */
const Tracks = memo(function Tracks({ lanes, placed, marks, scale, width, x, from, to }: TracksProps) {
  return (
    <>
      {lanes.map(({ path, top, rows }) => (
        <div key={path} className="lane-band" style={{ top: axisHeight + top * rowHeight, height: rows * rowHeight }} />
      ))}
      <Axis scale={scale} marks={marks} width={width} x={x} from={from} to={to} />
      {placed.map((bar) =>
        bar.right < from || bar.left > to ? null : (
          <BarView key={bar.span.key} bar={bar} top={axisHeight + bar.row * rowHeight} />
        ),
      )}
    </>
  )
})

/** A ring around each bar that is running at the cursor. */
function Now({ placed, at }: { readonly placed: readonly PlacedBar[]; readonly at: number }) {
  return placed.map((bar) => {
    if (bar.count > 1 || !isNow(bar, at)) return null
    const { span, left, right, row } = bar
    const style = { left, width: right - left, top: axisHeight + row * rowHeight }
    return (
      <div
        key={span.key}
        className="bar-now"
        data-testid="bar-now"
        style={{ ...style, '--agent': agentColour(span.agent) } as React.CSSProperties}
      />
    )
  })
}

const LaneNames = memo(function LaneNames({ lanes }: { readonly lanes: readonly WaterfallLane[] }) {
  return (
    <div className="lane-names">
      {lanes.map(({ path, agent, kind, name, depth, rows }) => (
        <div
          key={path}
          className={`lane-name of-${kind}`}
          title={kind === 'agent' ? path : name}
          style={{ height: rows * rowHeight, paddingLeft: 14 + Math.min(depth, 4) * 12 }}
        >
          {kind === 'agent' && <i style={{ background: agentColour(agent) }} />}
          {kind === 'tool' && <Icon name="tool" size={12} />}
          {kind === 'model' && <Icon name="thought" size={12} />}
          <span className="ellipsis">{kind === 'run' ? 'Runs' : kind === 'model' ? `model ${name}` : name}</span>
        </div>
      ))}
    </div>
  )
})
