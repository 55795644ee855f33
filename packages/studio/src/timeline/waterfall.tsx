import {
  type PointerEvent,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type WheelEvent,
} from 'react'
import { currentRoute } from '../app/route.ts'
import { goTo } from '../session/cursor.ts'
import { usePlayer } from '../session/play.ts'
import { agentColour } from '../ui/agent-colour.ts'
import { duration } from '../ui/duration.ts'
import { BarView, type PlacedBar } from './bar.tsx'
import type { Lane, Waterfall as Picture } from './lanes.ts'
import type { Mark } from './marks.ts'
import type { Scale } from './scale.ts'
import { ticks } from './ticks.ts'

interface WaterfallProps {
  readonly picture: Picture
  readonly scale: Scale
  readonly marks: readonly Mark[]
  readonly at: number | undefined
  readonly zoom: number
  readonly onZoom: (zoom: number) => void
}

const rowHeight = 26
/** A pointer that rests on a bar is looking at it; one that passes is not. */
const rest = 180

export function Waterfall({ picture, scale, marks, at, zoom, onZoom }: WaterfallProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ left: 0, width: 800 })
  const measure = useCallback((): void => {
    const element = scroller.current
    if (element !== null) setView({ left: element.scrollLeft, width: Math.max(80, element.clientWidth) })
  }, [])
  useLayoutEffect(() => {
    const observer = new ResizeObserver(measure)
    if (scroller.current !== null) observer.observe(scroller.current)
    return () => observer.disconnect()
  }, [measure])
  const width = view.width * zoom - 16
  const x = (seq: number): number => 4 + (scale.of(seq) / scale.total) * (width - 8)
  // biome-ignore lint/correctness/useExhaustiveDependencies: x is made of scale and width
  const placed = useMemo(() => place(picture, x, width), [picture, scale, width])
  const from = view.left - 200
  const to = view.left + view.width + 200
  const head = at === undefined ? width - 4 : x(at)
  useEffect(() => {
    const element = scroller.current
    if (element === null || zoom === 1) return
    const { scrollLeft, clientWidth } = element
    if (head < scrollLeft || head > scrollLeft + clientWidth - 24) element.scrollLeft = head - clientWidth * 0.6
  }, [head, zoom])
  const peek = usePeek()
  const scrub = (event: PointerEvent<HTMLElement>): void => {
    const { left } = event.currentTarget.getBoundingClientRect()
    usePlayer.setState({ playing: false })
    goTo(scale.seqAt(((event.clientX - left - 4) / (width - 8)) * scale.total))
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
          style={{ width, height: picture.rows * rowHeight + 24 }}
          onPointerDown={(event) => {
            if (event.button !== 0 || (event.target as Element).closest('button') !== null) return
            event.currentTarget.setPointerCapture(event.pointerId)
            scrub(event)
          }}
          onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && scrub(event)}
        >
          <Axis scale={scale} width={width} from={from} to={to} />
          {picture.lanes.map(({ path, top, rows }) => (
            <div key={path} className="lane-band" style={{ top: 24 + top * rowHeight, height: rows * rowHeight }} />
          ))}
          <Flags marks={marks} x={x} from={from} to={to} />
          {placed.map((bar) =>
            bar.right < from || bar.left > to ? null : (
              <BarView key={bar.execution.key} bar={bar} at={at} top={24 + bar.row * rowHeight} peek={peek} />
            ),
          )}
          <div
            className={`playhead ${at === undefined ? 'live' : ''}`}
            style={{ transform: `translateX(${head}px)` }}
          />
        </div>
      </div>
    </div>
  )
}

function LaneNames({ lanes }: { readonly lanes: readonly Lane[] }) {
  return (
    <div className="lane-names">
      {lanes.map(({ path, agent, depth, rows }) => (
        <div
          key={path}
          className="lane-name"
          title={path}
          style={{ height: rows * rowHeight, paddingLeft: 14 + Math.min(depth, 4) * 12 }}
        >
          <i style={{ background: agentColour(agent) }} />
          <span className="ellipsis">{agent}</span>
        </div>
      ))}
    </div>
  )
}

function Axis({
  scale,
  width,
  from,
  to,
}: {
  readonly scale: Scale
  readonly width: number
  readonly from: number
  readonly to: number
}) {
  return (
    <div className="axis" aria-hidden="true">
      {ticks(scale.total, width).map((tick) => {
        const left = 4 + (tick / scale.total) * (width - 8)
        if (left < from || left > to || left > width - 36) return null
        return (
          <span key={tick} className="tick number" style={{ left }}>
            {scale.ordinal ? `#${tick}` : duration(tick)}
          </span>
        )
      })}
    </div>
  )
}

function Flags({
  marks,
  x,
  from,
  to,
}: {
  readonly marks: readonly Mark[]
  readonly x: (seq: number) => number
  readonly from: number
  readonly to: number
}) {
  let last = Number.NEGATIVE_INFINITY
  return marks.map(({ seq, kind, text }) => {
    const left = x(seq)
    if (left < from || left > to || (kind === 'run' && left - last < 3)) return null
    last = left
    return (
      <button
        type="button"
        key={seq}
        className={`flag ${kind}`}
        style={{ left }}
        title={text}
        aria-label={`${text}, event ${seq}`}
        onClick={() => goTo(seq)}
      />
    )
  })
}

/** Bars in pixels. Those that would lie on the same pixel of the same row are one: a screen has only so many. */
function place({ bars }: Picture, x: (seq: number) => number, width: number): readonly PlacedBar[] {
  const ends = new Map<number, PlacedBar>()
  const placed: PlacedBar[] = []
  for (const { execution, row } of bars) {
    const left = x(execution.startSeq)
    const right = Math.max(left + 4, execution.endSeq === undefined ? width - 4 : x(execution.endSeq))
    const before = ends.get(row)
    if (before !== undefined && right - before.left < 5 && execution.status === before.execution.status) continue
    if (before !== undefined) before.room = left - before.right
    const bar: PlacedBar = { execution, row, left, right, room: Math.max(0, width - right) }
    ends.set(row, bar)
    placed.push(bar)
  }
  return placed
}

/** Resting on a bar shows its moment everywhere; leaving goes back, unless it was clicked. */
function usePeek(): {
  readonly over: (seq: number) => void
  readonly out: () => void
  readonly keep: (seq: number) => void
} {
  const timer = useRef(0)
  const before = useRef<{ readonly at: number | undefined; readonly seq: number } | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  return {
    over(seq) {
      clearTimeout(timer.current)
      if (usePlayer.getState().playing) return
      timer.current = setTimeout(() => {
        before.current ??= { at: currentRoute().at, seq }
        before.current = { ...before.current, seq }
        goTo(seq)
      }, rest)
    },
    out() {
      clearTimeout(timer.current)
      const last = before.current
      before.current = undefined
      if (last !== undefined && currentRoute().at === last.seq) goTo(last.at)
    },
    keep(seq) {
      clearTimeout(timer.current)
      before.current = undefined
      usePlayer.setState({ playing: false })
      goTo(seq)
    },
  }
}
