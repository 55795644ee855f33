import Elk, { type ELK, type ElkNode } from 'elkjs/lib/elk-api.js'
import workerUrl from 'elkjs/lib/elk-worker.min.js?url'
import type { Drawing } from './drawing.ts'
import { outlineOf } from './outline.ts'
import { border, type Layout, labelSize, nodeSize, type Point, type Size } from './size.ts'

/** Room for the name of an open box above its inside. */
const boxPadding = '[top=52,left=16,bottom=16,right=16]'

const options = {
  'elk.algorithm': 'layered',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.layered.spacing.nodeNodeBetweenLayers': '26',
  'elk.spacing.nodeNode': '22',
  'elk.spacing.edgeNode': '16',
  'elk.spacing.edgeEdge': '14',
  'elk.layered.nodePlacement.strategy': 'BRANDES_KOEPF',
  'elk.layered.nodePlacement.bk.fixedAlignment': 'BALANCED',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER',
  'elk.padding': `[top=${border},left=${border},bottom=${border},right=${border}]`,
}

/** ELK runs in a worker: it is as large as the rest of the page, and a layout takes longer than a frame. */
const elk: ELK = new Elk({ workerFactory: () => new Worker(workerUrl) })

/** The ways to draw the graph, of which the panel shows the one that fits its room best. */
export async function layOutGraph(drawing: Drawing): Promise<readonly Layout[]> {
  const layers = await Promise.all(
    ['DOWN', 'RIGHT'].map(async (direction) => read(await elk.layout(toElk(drawing, direction)))),
  )
  const outline = outlineOf(drawing)
  return outline === undefined ? layers : [...layers, outline]
}

function toElk({ nodes, links }: Drawing, direction: string): ElkNode {
  const nested = nodes.some(({ box }) => box === 'open')
  const inside = (parent: string | undefined): ElkNode[] =>
    nodes
      .filter((node) => node.parent === parent)
      .map((node) =>
        node.box === 'open'
          ? {
              id: node.id,
              children: inside(node.id),
              layoutOptions: {
                'elk.padding': boxPadding,
                'elk.nodeSize.constraints': 'MINIMUM_SIZE',
                'elk.nodeSize.minimum': `(${nodeSize(node).width + 24}, 90)`,
              },
            }
          : { id: node.id, ...nodeSize(node) },
      )
  return {
    id: 'root',
    layoutOptions: {
      ...options,
      'elk.direction': direction,
      ...(nested ? { 'elk.hierarchyHandling': 'INCLUDE_CHILDREN' } : {}),
    },
    children: inside(undefined),
    edges: links.map(({ id, from, to, keys, repeated, forth }) => ({
      id,
      sources: [from],
      targets: [to],
      labels:
        forth.length === 0
          ? []
          : [
              {
                id: `${id} label`,
                text: id,
                ...labelSize({ keys, repeated }),
                layoutOptions: { 'elk.edgeLabels.inline': 'true' },
              },
            ],
    })),
  }
}

function read({ width = 1, height = 1, children = [], edges = [] }: ElkNode): Layout {
  const nodes = new Map<string, Point & Size>()
  const collect = (each: readonly ElkNode[], left: number, top: number): void => {
    for (const { id, x = 0, y = 0, width = 0, height = 0, children: inner = [] } of each) {
      nodes.set(id, { x: left + x, y: top + y, width, height })
      collect(inner, left + x, top + y)
    }
  }
  collect(children, 0, 0)
  return {
    width,
    height,
    nodes,
    links: new Map(
      edges.map(({ id, sections = [], labels = [], ...edge }) => {
        // ELK places a line relative to the innermost box that contains both of its ends.
        const container = 'container' in edge ? nodes.get(String(edge.container)) : undefined
        const { x: left, y: top } = container ?? { x: 0, y: 0 }
        const moved = ({ x, y }: Point): Point => ({ x: left + x, y: top + y })
        const points = sections.flatMap(({ startPoint, bendPoints = [], endPoint }) =>
          [startPoint, ...bendPoints, endPoint].map(moved),
        )
        const [label] = labels
        const { x = 0, y = 0, width = 0, height = 0 } = label ?? {}
        const middle = moved({ x: x + width / 2, y: y + height / 2 })
        return [id, { points, label: label === undefined ? undefined : middle }]
      }),
    ),
  }
}

/** An SVG path through the points, with rounded corners. */
export function roundedPath(points: readonly Point[], radius = 8): string {
  const [first, ...rest] = points
  if (first === undefined) return ''
  let path = `M${first.x},${first.y}`
  for (const [i, point] of rest.entries()) {
    const before = points[i] as Point
    const after = rest[i + 1]
    if (after === undefined) {
      path += `L${point.x},${point.y}`
      continue
    }
    const start = towards(point, before, radius)
    const end = towards(point, after, radius)
    path += `L${start.x},${start.y}Q${point.x},${point.y} ${end.x},${end.y}`
  }
  return path
}

function towards(from: Point, to: Point, distance: number): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y)
  const part = length === 0 ? 0 : Math.min(distance, length / 2) / length
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part }
}
