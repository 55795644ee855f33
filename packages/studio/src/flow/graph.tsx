import { activeNodes, defined, type Flow, type FlowNode, type Problem, type Recorded } from '@millrace/core'
import { Background, Controls, MarkerType, ReactFlow, useReactFlow } from '@xyflow/react'
import { type RefObject, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { rowIndexAt } from '../session/row-index.ts'
import type { RunSpan } from '../session/runs.ts'
import { type StateWord, stepWord } from '../ui/state-word.ts'
import { carriedOn, type Drawing } from './drawing.ts'
import { layOutGraph } from './layout.ts'
import { type LinkEdge, LinkEdgeView } from './link-edge.tsx'
import type { Layout, Size } from './size.ts'
import { type StepNode, StepNodeView } from './step-node.tsx'
import { bestFor, isCut, isInView, viewportOf } from './viewport.ts'
import '@xyflow/react/dist/style.css'

const nodeTypes = { step: StepNodeView }
const edgeTypes = { link: LinkEdgeView }

interface FlowGraphProps {
  readonly drawing: Drawing
  readonly shown: Flow
  /** The runs as they are known at the cursor. */
  readonly runs: readonly RunSpan[]
  readonly rows: readonly Recorded[]
  readonly onToggle: (id: string) => void
}

export function FlowGraph({ drawing, shown, runs, rows, onToggle }: FlowGraphProps) {
  const place = useRef<HTMLDivElement>(null)
  const room = useRoom(place)
  const layout = useLayout(drawing, room)
  const [cut, setCut] = useState(false)
  const [lit, setLit] = useState<string>()
  const nodes = useMemo(
    () => (layout === undefined ? [] : nodesOf(layout.drawing, layout.made, { shown, runs, rows, onToggle })),
    [layout, shown, runs, rows, onToggle],
  )
  const edges = useMemo(
    () => (layout === undefined ? [] : edgesOf(layout.drawing, layout.made, shown, lit, setLit)),
    [layout, shown, lit],
  )
  const latest = nodes.find(({ data }) => data.latest && data.drawn.kind === 'step')?.id
  return (
    <div className="flow-graph" data-testid="flow-graph" ref={place}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        // React Flow lets the pointer reach a node only if it can be dragged, selected or clicked.
        onNodeClick={ignore}
        disableKeyboardA11y
        minZoom={0.2}
        maxZoom={1.6}
        // A person who has moved the graph knows that it can be moved.
        onMoveStart={(event) => event !== null && setCut(false)}
        colorMode="system"
      >
        <Background gap={22} size={1} />
        <Controls showInteractive={false} fitViewOptions={everything} />
        <Fitting layout={layout?.made} latest={latest} room={room} onCut={setCut} />
      </ReactFlow>
      {cut && (
        <p className="flow-cut" data-testid="flow-cut">
          Drag to see the rest
        </p>
      )}
      {layout === undefined && (
        <p className="flow-waiting" role="status">
          Drawing the graph…
        </p>
      )}
    </div>
  )
}

const ignore = (): void => undefined
const everything = { padding: 0.04, maxZoom: 1 }

interface FittingProps {
  readonly layout: Layout | undefined
  readonly latest: string | undefined
  readonly room: Size
  readonly onCut: (cut: boolean) => void
}

/** Shows the graph at a scale that can be read, and keeps the node of the latest event in view. */
function Fitting({ layout, latest, room, onCut }: FittingProps) {
  const { setViewport, getViewport } = useReactFlow()
  const focus = useRef(latest)
  focus.current = latest
  useEffect(() => {
    if (layout === undefined) return
    const frame = requestAnimationFrame(() => {
      const viewport = viewportOf(layout, room, focus.current)
      onCut(isCut(layout, room, viewport))
      void setViewport(viewport)
    })
    return () => cancelAnimationFrame(frame)
  }, [layout, room, setViewport, onCut])
  useEffect(() => {
    if (layout === undefined || latest === undefined) return
    const now = getViewport()
    if (isInView(layout, room, now, latest)) return
    const { x, y, zoom } = viewportOf(layout, room, latest)
    void setViewport({ x, y, zoom: Math.max(now.zoom, zoom) })
  }, [layout, latest, room, setViewport, getViewport])
  return null
}

/** The size of an element, as it is now. */
function useRoom(place: RefObject<HTMLDivElement | null>): Size {
  const [room, setRoom] = useState<Size>({ width: 480, height: 600 })
  useLayoutEffect(() => {
    const element = place.current
    if (element === null) return
    const measure = (): void => {
      const { clientWidth: width, clientHeight: height } = element
      setRoom((before) => (before.width === width && before.height === height ? before : { width, height }))
    }
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    measure()
    return () => observer.disconnect()
  }, [place])
  return room
}

interface LaidOut {
  readonly drawing: Drawing
  readonly made: Layout
}

/**
 * Computes the layouts only when the graph itself changes, not when a node becomes active or the cursor moves. A layout
 * comes with the drawing that it was made for, so that no node is drawn at a place of another drawing.
 */
function useLayout(drawing: Drawing, room: Size): LaidOut | undefined {
  const [laidOut, setLaidOut] = useState<{ readonly drawing: Drawing; readonly layouts: readonly Layout[] }>()
  const shape = useMemo(
    () =>
      JSON.stringify([
        drawing.nodes.map(({ id, box, parent }) => [id, box, parent]),
        drawing.links.map(({ id, keys, repeated, forth, back }) => [id, keys, repeated, forth, back]),
      ]),
    [drawing],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: the layouts depend only on the shape of the drawing
  useEffect(() => {
    let stale = false
    layOutGraph(drawing)
      .then((layouts) => !stale && setLaidOut({ drawing, layouts }))
      .catch(() => undefined)
    return () => {
      stale = true
    }
  }, [shape])
  return useMemo(() => {
    const made = laidOut === undefined ? undefined : bestFor(laidOut.layouts, room)
    return laidOut === undefined || made === undefined ? undefined : { drawing: laidOut.drawing, made }
  }, [laidOut, room])
}

function nodesOf(
  { nodes }: Drawing,
  layout: Layout,
  { shown, runs, rows, onToggle }: Omit<FlowGraphProps, 'drawing'>,
): StepNode[] {
  const known = new Map(shown.nodes.toArray().map((node) => [node.id, node]))
  const active = new Set(activeNodes(shown))
  const last = Math.max(0, ...[...known.values()].map(({ lastSeq }) => lastSeq))
  return nodes.flatMap((drawn) => {
    const place = layout.nodes.get(drawn.id)
    if (place === undefined) return []
    const { width, height, ...position } = place
    const node = known.get(drawn.id)
    const isActive = active.has(drawn.id)
    const run = runs.findLast(({ startSeq }) => startSeq <= (node?.lastSeq ?? 0))
    const word: StateWord = isActive
      ? 'running'
      : node === undefined || node.executions === 0
        ? 'not started'
        : stepWord({ status: node.status, superseded: undefined, error: errorOf(node, rows) }, run)
    const latest = node !== undefined && node.lastSeq === last
    const data = { drawn, node, active: isActive, latest, word, onToggle }
    // Without `measured`, React Flow forgets where the edges of a new node begin, and takes them off the page until it has
    // measured the node again: their keys would be other elements after every event, which a press and a tooltip do not survive.
    const measured = { width, height }
    return [{ id: drawn.id, type: 'step', position, data, width, height, measured } satisfies StepNode]
  })
}

/** Why the last execution of a node ended: a step that the server's stop cut off did not fail. */
function errorOf({ status, lastSeq }: FlowNode, rows: readonly Recorded[]): Problem | undefined {
  const end = status === 'error' ? rows[rowIndexAt(rows, lastSeq)]?.event : undefined
  return end?.kind === 'node.finished' ? end.error : undefined
}

function edgesOf(
  { links }: Drawing,
  layout: Layout,
  shown: Flow,
  lit: string | undefined,
  onLit: (key: string | undefined) => void,
): LinkEdge[] {
  const taken = new Map(shown.edges.toArray().map((edge) => [edge.id, edge]))
  const last = Math.max(0, ...[...taken.values()].map(({ lastSeq }) => lastSeq))
  return links.flatMap((link) => {
    const way = layout.links.get(link.id)
    if (way === undefined) return []
    const { lastSeq, ...carried } = carriedOn(link, taken)
    const latest = lastSeq > 0 && lastSeq === last
    const carries = lit !== undefined && carried.keys.has(lit)
    const color = carried.count === 0 ? 'var(--line-strong)' : carries || latest ? 'var(--accent)' : 'var(--soft)'
    const marker = { type: MarkerType.ArrowClosed, width: 15, height: 15, color }
    const answer = { ...marker, orient: 'auto-start-reverse' }
    const edge = defined({
      id: link.id,
      type: 'link' as const,
      source: link.from,
      target: link.to,
      markerEnd: marker,
      markerStart: carried.answered ? answer : undefined,
      data: { ...way, ...carried, latest, planned: link.forth.length === 0, lit, onLit },
    })
    return [edge satisfies LinkEdge]
  })
}
