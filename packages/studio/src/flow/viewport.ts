import type { Viewport } from '@xyflow/react'
import { border, type Layout, type Size } from './size.ts'

/** At this scale the smallest label of the graph has 11 px. A graph that needs more room is moved, not shrunk. */
export const leastScale = 0.9
const margin = 14

/** The whole graph if it can be read then, else its part around the node `focus`, or around its first node, the start. */
export function viewportOf({ width, height, nodes }: Layout, room: Size, focus: string | undefined): Viewport {
  const fits = Math.min((room.width - 2 * margin) / width, (room.height - 2 * margin) / height)
  const zoom = Math.min(1, Math.max(leastScale, fits))
  const [start] = nodes.values()
  const node = (focus === undefined ? undefined : nodes.get(focus)) ?? start
  const along = (size: number, available: number, middle: number | undefined): number => {
    const needed = size * zoom
    if (needed + 2 * margin <= available) return (available - needed) / 2
    const centred = available / 2 - (middle ?? 0) * zoom
    return Math.min(margin, Math.max(available - needed - margin, centred))
  }
  return {
    zoom,
    x: along(width, room.width, node === undefined ? undefined : node.x + node.width / 2),
    y: along(height, room.height, node === undefined ? undefined : node.y + node.height / 2),
  }
}

/** Whether a node is within the visible part. */
export function isInView({ nodes }: Layout, room: Size, { x, y, zoom }: Viewport, id: string): boolean {
  const node = nodes.get(id)
  if (node === undefined) return true
  const [left, top] = [node.x * zoom + x, node.y * zoom + y]
  return left >= 0 && top >= 0 && left + node.width * zoom <= room.width && top + node.height * zoom <= room.height
}

/** The layout that can be shown largest in the room; the earlier one where two are the same. */
export function bestFor(layouts: readonly Layout[], room: Size): Layout | undefined {
  const scale = ({ width, height }: Layout): number =>
    Math.min((room.width - 2 * margin) / width, (room.height - 2 * margin) / height, 1)
  return layouts.reduce<Layout | undefined>(
    (best, each) => (best === undefined || scale(each) > scale(best) + 0.02 ? each : best),
    undefined,
  )
}

/** Whether a part of the graph is outside of the visible part. The empty border of the layout may be. */
export function isCut({ width, height }: Layout, room: Size, { x, y, zoom }: Viewport): boolean {
  const empty = border * zoom
  const isOut = (start: number, size: number, available: number): boolean =>
    start < -empty || start + size * zoom > available + empty
  return isOut(x, width, room.width) || isOut(y, height, room.height)
}
