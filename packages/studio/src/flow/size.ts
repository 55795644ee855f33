import type { DrawnLink, DrawnNode } from './drawing.ts'

export interface Point {
  readonly x: number
  readonly y: number
}
export interface Size {
  readonly width: number
  readonly height: number
}

/** Where everything of a drawing is, in pixels at scale 1. */
export interface Layout {
  readonly width: number
  readonly height: number
  readonly nodes: ReadonlyMap<string, Point & Size>
  /** The way of each link, and the middle of its label. */
  readonly links: ReadonlyMap<string, { readonly points: readonly Point[]; readonly label: Point | undefined }>
}

/** The empty pixels around each layout. */
export const border = 12
const edgeNode = { width: 34, height: 34 }

/** The size of a closed node: as wide as its name needs, within limits. */
export function nodeSize({ kind, agent, box }: DrawnNode): Size {
  if (kind !== 'step') return edgeNode
  const name = agent.length * 7.8 + (box === undefined ? 62 : 92)
  return { width: Math.round(Math.min(300, Math.max(150, name))), height: 54 }
}

/** How many keys are shown on a link; the others are only counted. */
export const mostPills = 3
const pillHeight = 24
const countHeight = 18

/** The room for what is written on a link: its keys, and how often it was taken if that was more than once. */
export function labelSize({ keys, repeated }: Pick<DrawnLink, 'keys' | 'repeated'>): Size {
  const shown = keys.slice(0, mostPills)
  if (keys.length === 0) return { width: 30, height: countHeight }
  const longest = Math.max(4, ...shown.map((key) => Math.min(key.length, 20)))
  const rows = shown.length + (keys.length > mostPills ? 1 : 0)
  return { width: longest * 7.6 + 24, height: rows * pillHeight + (repeated ? countHeight : 0) }
}
