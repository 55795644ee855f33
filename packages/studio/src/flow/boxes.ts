import type { Drawing, DrawnLink, DrawnNode } from './drawing.ts'

/** Which node is inside which, and which of the containing nodes are drawn as boxes. */
export interface Containment {
  readonly parents: ReadonlyMap<string, string>
  readonly boxes: ReadonlySet<string>
}

/**
 * The nodes that contain a graph: those that the agent describes as such, and those inside which control goes from one
 * step to the next. An agent that only calls others is no box: the lines to them show that.
 */
export function boxesOf(
  parents: ReadonlyMap<string, string>,
  links: readonly DrawnLink[],
  described: ReadonlySet<string>,
  nodes: readonly DrawnNode[],
): ReadonlySet<string> {
  const drawn = new Set(nodes.map(({ id }) => id))
  const found = new Set([...described].filter((id) => drawn.has(id)))
  for (const { from, to } of links) {
    const parent = parents.get(from)
    if (from !== to && parent !== undefined && parent === parents.get(to) && drawn.has(parent)) found.add(parent)
  }
  return found
}

/** The drawing with the inside of each closed box left out: lines to a node inside lead to the box. */
export function folded({ nodes, links }: Drawing, { parents, boxes }: Containment, open: ReadonlySet<string>): Drawing {
  if (boxes.size === 0) return { nodes, links }
  const around = (id: string): readonly string[] => {
    const found: string[] = []
    for (let at = parents.get(id); at !== undefined && !found.includes(at); at = parents.get(at)) {
      if (boxes.has(at)) found.push(at)
    }
    return found
  }
  /** The node that is drawn for this one: its outermost closed box, else the node itself. */
  const shown = (id: string): string => around(id).findLast((box) => !open.has(box)) ?? id
  const drawn = nodes.flatMap((node): DrawnNode[] => {
    if (shown(node.id) !== node.id) return []
    const [parent] = around(node.id)
    const box = boxes.has(node.id) ? { box: open.has(node.id) ? ('open' as const) : ('closed' as const) } : {}
    return [{ ...node, ...(parent === undefined ? {} : { parent }), ...box }]
  })
  const merged = new Map<string, DrawnLink>()
  for (const link of links) {
    const [from, to] = [shown(link.from), shown(link.to)]
    // The border of a box shows that control went into it and came back.
    if (from === to ? link.from !== link.to : around(from).includes(to) || around(to).includes(from)) continue
    const known = merged.get(`${from}\n${to}`)
    merged.set(`${from}\n${to}`, known === undefined ? { ...link, from, to } : joinedLinks(known, link))
  }
  return { nodes: drawn, links: [...merged.values()] }
}

function joinedLinks(a: DrawnLink, b: DrawnLink): DrawnLink {
  return {
    ...a,
    forth: [...a.forth, ...b.forth],
    back: [...a.back, ...b.back],
    keys: [...new Set([...a.keys, ...b.keys])],
    // The counts of joined links are added.
    repeated: a.forth.length + b.forth.length > 1 || a.repeated || b.repeated,
  }
}
