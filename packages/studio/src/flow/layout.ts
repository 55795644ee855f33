import Elk, { type ELK, type ElkNode } from 'elkjs/lib/elk-api.js'
import workerUrl from 'elkjs/lib/elk-worker.min.js?url'
import type { Drawing, DrawnNode } from './drawing.ts'

export interface Point {
  readonly x: number
  readonly y: number
}
export interface Layout {
  readonly width: number
  readonly height: number
  readonly nodes: ReadonlyMap<string, Point & Size>
  readonly links: ReadonlyMap<string, { readonly points: readonly Point[]; readonly label: Point | undefined }>
}

const border = { width: 34, height: 34 }

export interface Size {
  readonly width: number
  readonly height: number
}

/** The size of a closed node: as wide as its name needs, within limits. */
export function nodeSize({ kind, agent, box }: DrawnNode): Size {
  if (kind !== 'step') return border
  const name = agent.length * 7.8 + (box === undefined ? 62 : 92)
  return { width: Math.round(Math.min(300, Math.max(150, name))), height: 54 }
}
/** How many keys are shown on a link; the others are only counted. */
export const mostPills = 3
const pillHeight = 24
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
  'elk.padding': '[top=12,left=12,bottom=12,right=12]',
}

/** ELK runs in a worker: it is as large as the rest of the page, and a layout takes longer than a frame. */
const elk: ELK = new Elk({ workerFactory: () => new Worker(workerUrl) })

/** Tries both directions and returns the layout that can be shown larger in the available room. */
export async function layOutGraph(
  drawing: Drawing,
  room: { readonly width: number; readonly height: number },
): Promise<Layout> {
  const made = await Promise.all(
    ['DOWN', 'RIGHT'].map(async (direction) => read(await elk.layout(toElk(drawing, direction)))),
  )
  const size = ({ width, height }: Layout): number => Math.min(room.width / width, room.height / height, 1)
  const [down, right] = made
  if (down === undefined || right === undefined) throw new Error('ELK returned no layout')
  return size(right) > size(down) ? right : down
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
    edges: links.map(({ id, from, to, keys, forth }) => ({
      id,
      sources: [from],
      targets: [to],
      labels:
        forth.length === 0
          ? []
          : [{ id: `${id} label`, text: id, ...labelSize(keys), layoutOptions: { 'elk.edgeLabels.inline': 'true' } }],
    })),
  }
}

function labelSize(keys: readonly string[]): Size {
  const shown = keys.slice(0, mostPills)
  if (keys.length === 0) return { width: 30, height: 18 }
  const longest = Math.max(4, ...shown.map((key) => Math.min(key.length, 20)))
  const rows = Math.max(1, shown.length + (keys.length > mostPills ? 1 : 0))
  return { width: longest * 7.6 + 24, height: rows * pillHeight }
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
