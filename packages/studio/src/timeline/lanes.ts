import type { Span } from './spans.ts'

/** One agent, model or tool at one place of the graph. Its bars share a row, except where they overlap. */
export interface WaterfallLane {
  readonly path: string
  readonly agent: string
  readonly kind: Span['kind']
  readonly name: string
  /** How many other lanes contain this one. */
  readonly depth: number
  /** The first row of the lane, and how many rows it has. */
  readonly top: number
  readonly rows: number
}

export interface Bar {
  readonly span: Span
  readonly row: number
}

export interface WaterfallLayout {
  readonly lanes: readonly WaterfallLane[]
  readonly bars: readonly Bar[]
  readonly rows: number
}

interface Open {
  readonly path: string
  readonly agent: string
  readonly kind: Span['kind']
  readonly name: string
  readonly first: number
  /** For each row, the seq from which it is free again. */
  readonly free: number[]
  readonly bars: { readonly span: Span; readonly within: number }[]
}

export function layOut(spans: readonly Span[]): WaterfallLayout {
  const open = new Map<string, Open>()
  for (const span of spans) {
    const { path, agent, kind, name, startSeq, endSeq = Number.POSITIVE_INFINITY } = span
    const lane: Open = open.get(path) ?? { path, agent, kind, name, first: open.size, free: [], bars: [] }
    open.set(path, lane)
    const found = lane.free.findIndex((seq) => seq <= startSeq)
    const within = found < 0 ? lane.free.length : found
    lane.free[within] = endSeq
    lane.bars.push({ span, within })
  }
  const lanes: WaterfallLane[] = []
  const bars: Bar[] = []
  let top = 0
  for (const { path, agent, kind, name, free, bars: own } of nested(open)) {
    lanes.push({ path, agent, kind, name, depth: ancestors(path, open).length, top, rows: free.length })
    for (const { span, within } of own) bars.push({ span, row: top + within })
    top += free.length
  }
  return { lanes, bars, rows: top }
}

/** The lanes in the order of their first starts, each below the lane that contains it. */
function nested(open: ReadonlyMap<string, Open>): readonly Open[] {
  const order = (lane: Open): readonly number[] => [
    ...ancestors(lane.path, open).map((path) => open.get(path)?.first ?? 0),
    lane.first,
  ]
  return [...open.values()]
    .map((lane) => ({ lane, by: order(lane) }))
    .sort((a, b) => compare(a.by, b.by))
    .map(({ lane }) => lane)
}

function ancestors(path: string, open: ReadonlyMap<string, Open>): readonly string[] {
  const found: string[] = []
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
    const above = path.slice(0, at)
    if (open.has(above)) found.push(above)
  }
  return found
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [i, left] of a.entries()) {
    const right = b[i]
    if (right === undefined) return 1
    if (left !== right) return left - right
  }
  return a.length - b.length
}
