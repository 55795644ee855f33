import { activeNodes, defined, type Flow } from '@millrace/core'
import { Background, Controls, MarkerType, ReactFlow, useReactFlow } from '@xyflow/react'
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import type { RunSpan } from '../session/runs.ts'
import { type StateWord, stepWord } from '../ui/state-word.ts'
import { carriedOn, type Drawing } from './drawing.ts'
import { type Layout, layOutGraph } from './layout.ts'
import { type LinkEdge, LinkEdgeView } from './link-edge.tsx'
import { type StepNode, StepNodeView } from './step-node.tsx'
import { isInView, viewportOf } from './viewport.ts'
import '@xyflow/react/dist/style.css'

const nodeTypes = { step: StepNodeView }
const edgeTypes = { link: LinkEdgeView }

interface FlowGraphProps {
  readonly drawing: Drawing
  readonly shown: Flow
  /** The runs as they are known at the cursor. */
  readonly runs: readonly RunSpan[]
  readonly onToggle: (id: string) => void
}

export function FlowGraph({ drawing, shown, runs, onToggle }: FlowGraphProps) {
  const place = useRef<HTMLDivElement>(null)
  const layout = useLayout(drawing, place)
  const [lit, setLit] = useState<string>()
  const nodes = useMemo(
    () => (layout === undefined ? [] : nodesOf(layout.drawing, layout.made, shown, runs, onToggle)),
    [layout, shown, runs, onToggle],
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
        colorMode="system"
      >
        <Background gap={22} size={1} />
        <Controls showInteractive={false} fitViewOptions={everything} />
        <Fitting layout={layout?.made} latest={latest} place={place} />
      </ReactFlow>
      {layout === undefined && (
        <p className="flow-waiting" role="status">
          Drawing the graph …
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
  readonly place: RefObject<HTMLDivElement | null>
}

/** Shows the graph at a scale that can be read, and keeps the node of the latest event in view. */
function Fitting({ layout, latest, place }: FittingProps) {
  const { setViewport, getViewport } = useReactFlow()
  const focus = useRef(latest)
  focus.current = latest
  useEffect(() => {
    const element = place.current
    if (layout === undefined || element === null) return
    const show = (): void => void setViewport(viewportOf(layout, roomOf(element), focus.current))
    const observer = new ResizeObserver(show)
    observer.observe(element)
    const frame = requestAnimationFrame(show)
    return () => {
      observer.disconnect()
      cancelAnimationFrame(frame)
    }
  }, [layout, place, setViewport])
  useEffect(() => {
    const element = place.current
    if (layout === undefined || element === null || latest === undefined) return
    const [room, now] = [roomOf(element), getViewport()]
    if (isInView(layout, room, now, latest)) return
    const { x, y } = viewportOf(layout, room, latest)
    void setViewport({ x, y, zoom: Math.max(now.zoom, viewportOf(layout, room, latest).zoom) })
  }, [layout, latest, place, setViewport, getViewport])
  return null
}

const roomOf = ({ clientWidth: width, clientHeight: height }: Element) => ({ width, height })

interface LaidOut {
  readonly drawing: Drawing
  readonly made: Layout
}

/**
 * Computes the layout only when the graph itself changes, not when a node becomes active or the cursor moves. The layout
 * comes with the drawing that it was made for, so that no node is drawn at a place of another drawing.
 */
function useLayout(drawing: Drawing, place: RefObject<HTMLDivElement | null>): LaidOut | undefined {
  const [layout, setLayout] = useState<LaidOut>()
  const shape = useMemo(
    () =>
      JSON.stringify([
        drawing.nodes.map(({ id, box, parent }) => [id, box, parent]),
        drawing.links.map(({ id, keys, forth, back }) => [id, keys, forth, back]),
      ]),
    [drawing],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: the layout depends only on the shape of the drawing
  useEffect(() => {
    let stale = false
    const { clientWidth: width = 480, clientHeight: height = 600 } = place.current ?? {}
    layOutGraph(drawing, { width, height })
      .then((made) => !stale && setLayout({ drawing, made }))
      .catch(() => undefined)
    return () => {
      stale = true
    }
  }, [shape])
  return layout
}

function nodesOf(
  { nodes }: Drawing,
  layout: Layout,
  shown: Flow,
  runs: readonly RunSpan[],
  onToggle: (id: string) => void,
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
        : stepWord({ status: node.status, superseded: undefined, error: undefined }, run)
    const latest = node !== undefined && node.lastSeq === last
    const data = { drawn, node, active: isActive, latest, word, onToggle }
    return [{ id: drawn.id, type: 'step', position, data, width, height } satisfies StepNode]
  })
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
