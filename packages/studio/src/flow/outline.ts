import type { Drawing, DrawnLink, DrawnNode } from './drawing.ts'
import { border, type Layout, labelSize, nodeSize, type Point, type Size } from './size.ts'

/** The line down from a node is this far from its left side: the middle of the mark where a run starts. */
const spine = 17
const gap = 16

/**
 * The graph as an outline: what a node calls is listed below it, one under the other. A narrow panel has room for it
 * where layers side by side have none. Only a tree can be drawn so; anything else has no outline.
 */
export function outlineOf({ nodes, links }: Drawing): Layout | undefined {
  const into = new Map<string, DrawnLink>()
  for (const link of links) {
    if (into.has(link.to) || link.from === link.to) return undefined
    into.set(link.to, link)
  }
  if (nodes.some(({ box }) => box === 'open')) return undefined
  const outline = new Outline(nodes, links)
  let top = border
  for (const { id } of nodes) if (!into.has(id)) top = outline.place(id, border, top) + gap
  // The nodes of a loop are below no root.
  if (outline.nodes.size < nodes.length) return undefined
  return { ...outline, width: outline.width + border, height: outline.height + border }
}

class Outline {
  readonly nodes = new Map<string, Point & Size>()
  readonly links = new Map<string, { readonly points: readonly Point[]; readonly label: Point | undefined }>()
  width = 0
  height = 0
  readonly #drawn: ReadonlyMap<string, DrawnNode>
  readonly #below: ReadonlyMap<string, readonly DrawnLink[]>

  constructor(nodes: readonly DrawnNode[], links: readonly DrawnLink[]) {
    this.#drawn = new Map(nodes.map((node) => [node.id, node]))
    this.#below = new Map(nodes.map(({ id }) => [id, links.filter(({ from }) => from === id)]))
  }

  /** Places a node and everything below it; returns where that ends. */
  place(id: string, x: number, y: number): number {
    const drawn = this.#drawn.get(id)
    if (drawn === undefined) return y
    const size = nodeSize(drawn)
    this.nodes.set(id, { x, y, ...size })
    this.#reach(x + size.width, y + size.height)
    const below = this.#below.get(id) ?? []
    const [only] = below
    if (only === undefined) return y + size.height
    const start = { x: x + spine, y: y + size.height }
    return below.length === 1 ? this.#after(only, x, start) : this.#list(below, start)
  }

  /** What comes after a node and has no other beside it is straight below. */
  #after(link: DrawnLink, x: number, start: Point): number {
    const label = roomOf(link)
    const top = start.y + (label.height === 0 ? 26 : label.height + 2 * gap)
    const middle = { x: Math.max(start.x, x + label.width / 2), y: (start.y + top) / 2 }
    this.#draw(link, [start, { x: start.x, y: top }], middle)
    return this.place(link.to, x, top)
  }

  #list(links: readonly DrawnLink[], start: Point): number {
    const widest = Math.max(...links.map((link) => roomOf(link).width))
    const left = start.x + gap + widest + gap + 8
    let bottom = start.y
    for (const link of links) {
      const node = this.#drawn.get(link.to)
      if (node === undefined) continue
      const [label, { height }] = [roomOf(link), nodeSize(node)]
      const top = bottom + 12
      const y = top + Math.max(label.height, height) / 2
      this.#draw(link, [start, { x: start.x, y }, { x: left, y }], { x: start.x + gap + widest / 2, y })
      bottom = Math.max(this.place(link.to, left, y - height / 2), y + label.height / 2)
    }
    return bottom
  }

  #draw(link: DrawnLink, points: readonly Point[], middle: Point): void {
    const { width, height } = roomOf(link)
    this.links.set(link.id, { points, label: height === 0 ? undefined : middle })
    this.#reach(middle.x + width / 2, middle.y + height / 2)
  }

  #reach(right: number, bottom: number): void {
    this.width = Math.max(this.width, right)
    this.height = Math.max(this.height, bottom)
  }
}

/** A link that was never taken has no label. */
function roomOf(link: DrawnLink): Size {
  return link.forth.length === 0 ? { width: 0, height: 0 } : labelSize(link)
}
