import { activeNodes, defined, type Flow, flowView } from '@millrace/core'
import { useView } from '@millrace/react'
import { Background, Controls, MarkerType, ReactFlow, ReactFlowProvider, useReactFlow } from '@xyflow/react'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { PanelProps } from '../app/panels.ts'
import { useSessions } from '../session/sessions.ts'
import { Empty } from '../ui/controls.tsx'
import { carriedOn, type Drawing, drawingOf } from './drawing.ts'
import { type Layout, layOutGraph, nodeSize } from './layout.ts'
import { type LinkEdge, LinkEdgeView } from './link-edge.tsx'
import { type StepNode, StepNodeView } from './step-node.tsx'
import '@xyflow/react/dist/style.css'
import './flow.css'

const nodeTypes = { step: StepNodeView }
const edgeTypes = { link: LinkEdgeView }

/** The graph of the session: which node led to which, how often and with which state, within the graph of the agent. */
export function FlowPanel({ session, agent, at }: PanelProps) {
  const whole = useView(session.log, flowView)
  const shown = useView(session.log, flowView, { at })
  const plan = useSessions(({ agents }) => agents.find(({ name }) => name === agent)?.graph)
  const drawing = useMemo(() => drawingOf(whole, plan), [whole, plan])
  if (drawing.nodes.length === 0) {
    return (
      <Empty icon="flow" title="No graph yet">
        Agents appear here as they run, with the paths they took and the state they passed on.
      </Empty>
    )
  }
  return (
    <ReactFlowProvider>
      <Graph drawing={drawing} shown={shown} />
    </ReactFlowProvider>
  )
}

function Graph({ drawing, shown }: { readonly drawing: Drawing; readonly shown: Flow }) {
  const place = useRef<HTMLDivElement>(null)
  const layout = useLayout(drawing, place)
  const [lit, setLit] = useState<string>()
  const nodes = useMemo(() => nodesOf(drawing, layout, shown), [drawing, layout, shown])
  const edges = useMemo(() => edgesOf(drawing, layout, shown, lit, setLit), [drawing, layout, shown, lit])
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
        disableKeyboardA11y
        minZoom={0.2}
        maxZoom={1.6}
        colorMode="system"
      >
        <Background gap={22} size={1} />
        <Controls showInteractive={false} fitViewOptions={fit} />
        <Refit layout={layout} place={place} />
      </ReactFlow>
      {layout === undefined && (
        <p className="flow-waiting" role="status">
          Drawing the graph …
        </p>
      )}
    </div>
  )
}

const fit = { padding: 0.06, maxZoom: 1 }

/** Fits the whole graph into the panel when the layout or the size of the panel changes. */
function Refit({
  layout,
  place,
}: {
  readonly layout: Layout | undefined
  readonly place: React.RefObject<HTMLDivElement | null>
}) {
  const { fitView } = useReactFlow()
  useEffect(() => {
    if (layout === undefined || place.current === null) return
    const show = (): void => void fitView(fit)
    const observer = new ResizeObserver(show)
    observer.observe(place.current)
    const frame = requestAnimationFrame(show)
    return () => {
      observer.disconnect()
      cancelAnimationFrame(frame)
    }
  }, [layout, place, fitView])
  return null
}

/** Computes the layout only when the graph itself changes, not when a node becomes active or the cursor moves. */
function useLayout(drawing: Drawing, place: React.RefObject<HTMLDivElement | null>): Layout | undefined {
  const [layout, setLayout] = useState<Layout>()
  const shape = useMemo(
    () => JSON.stringify([drawing.nodes.map(({ id }) => id), drawing.links.map(({ id, keys }) => [id, keys])]),
    [drawing],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: the layout depends only on the shape of the drawing
  useEffect(() => {
    let stale = false
    const { clientWidth: width = 480, clientHeight: height = 600 } = place.current ?? {}
    layOutGraph(drawing, { width, height })
      .then((made) => !stale && setLayout(made))
      .catch(() => undefined)
    return () => {
      stale = true
    }
  }, [shape])
  return layout
}

function nodesOf({ nodes }: Drawing, layout: Layout | undefined, shown: Flow): StepNode[] {
  const known = new Map(shown.nodes.toArray().map((node) => [node.id, node]))
  const active = new Set(activeNodes(shown))
  const last = Math.max(0, ...[...known.values()].map(({ lastSeq }) => lastSeq))
  return nodes.flatMap((drawn) => {
    const position = layout?.nodes.get(drawn.id)
    if (position === undefined) return []
    const node = known.get(drawn.id)
    const data = { drawn, node, active: active.has(drawn.id), latest: node !== undefined && node.lastSeq === last }
    return [{ id: drawn.id, type: 'step', position, data, ...nodeSize(drawn) } satisfies StepNode]
  })
}

function edgesOf(
  { links }: Drawing,
  layout: Layout | undefined,
  shown: Flow,
  lit: string | undefined,
  onLit: (key: string | undefined) => void,
): LinkEdge[] {
  const taken = new Map(shown.edges.toArray().map((edge) => [edge.id, edge]))
  const last = Math.max(0, ...[...taken.values()].map(({ lastSeq }) => lastSeq))
  return links.flatMap((link) => {
    const way = layout?.links.get(link.id)
    if (way === undefined) return []
    const { lastSeq, ...carried } = carriedOn(link, taken)
    const latest = lastSeq > 0 && lastSeq === last
    const carries = lit !== undefined && carried.keys.some(({ key }) => key === lit)
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
      data: { ...way, ...carried, latest, planned: link.forth === undefined, lit, onLit },
    })
    return [edge satisfies LinkEdge]
  })
}
