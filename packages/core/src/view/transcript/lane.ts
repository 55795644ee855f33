import type { NodeFinished, NodeStarted } from '../../event/run-event.ts'
import { Dictionary } from '../../persistent/dictionary.ts'
import { Sequence } from '../../persistent/sequence.ts'
import type { Item } from './item.ts'

/** One node execution as a column of the conversation. */
export interface Lane {
  readonly key: string
  readonly run: string
  readonly node: string
  readonly agent: string
  readonly parent?: string
  /** Another child of the same parent ran at the same time: show them side by side. */
  readonly beside: boolean
  readonly open: boolean
}

/** The children of one parent that run now, and the one of them that has run alone so far. */
interface Siblings {
  readonly open: number
  readonly alone?: number
}

export interface Lanes {
  readonly list: Sequence<Lane>
  readonly byKey: Dictionary<number>
  readonly siblings: Dictionary<Siblings>
}

export const noLanes: Lanes = { list: Sequence.empty, byKey: Dictionary.empty, siblings: Dictionary.empty }

export const laneKey = (run: string, node: string): string => `${run}\n${node}`

export function laneStarted(lanes: Lanes, run: string, { node, agent, parent }: NodeStarted): Lanes {
  const before = laneFinished(lanes, run, { node }) // a step that runs again
  const group = laneKey(run, parent ?? '')
  const { open, alone } = before.siblings.get(group) ?? { open: 0 }
  const beside = open > 0
  const key = laneKey(run, node)
  const first = alone === undefined ? undefined : before.list.at(alone)
  const list =
    alone !== undefined && first !== undefined && beside
      ? before.list.with(alone, { ...first, beside: true })
      : before.list
  const lane: Lane = { key, run, node, agent, beside, open: true, ...(parent === undefined ? {} : { parent }) }
  return {
    list: list.append(lane),
    byKey: before.byKey.set(key, list.length),
    siblings: before.siblings.set(group, beside ? { open: open + 1 } : { open: 1, alone: list.length }),
  }
}

export function laneFinished(lanes: Lanes, run: string, { node }: Pick<NodeFinished, 'node'>): Lanes {
  const at = lanes.byKey.get(laneKey(run, node))
  const lane = at === undefined ? undefined : lanes.list.at(at)
  if (at === undefined || lane === undefined || !lane.open) return lanes
  const group = laneKey(run, lane.parent ?? '')
  const open = Math.max(0, (lanes.siblings.get(group)?.open ?? 1) - 1)
  return {
    ...lanes,
    list: lanes.list.with(at, { ...lane, open: false }),
    siblings: lanes.siblings.set(group, { open }),
  }
}

/** A stretch of the conversation: one item, or lanes that ran at the same time, to be shown side by side. */
export type Block =
  | { readonly kind: 'item'; readonly key: string; readonly item: Item }
  | { readonly kind: 'lanes'; readonly key: string; readonly lanes: readonly BlockLane[] }
export interface BlockLane {
  readonly key: string
  readonly agent: string
  readonly items: readonly Item[]
}

/**
 * Splits a conversation into blocks. Lanes come from node executions that overlapped, or, in a log without nodes, from
 * sibling branches, which ADK makes only for agents that run in parallel.
 */
export function blocksOf(items: Iterable<Item>, lanes: Lanes): readonly Block[] {
  const list = [...items]
  const branches = branchSiblings(list)
  const blocks: Block[] = []
  let columns = new Map<string, { agent: string; items: Item[] }>()
  const flush = (): void => {
    const [only, ...more] = columns
    if (only !== undefined && more.length === 0) for (const item of only[1].items) blocks.push(single(item))
    else if (only !== undefined) {
      const made = [...columns].map(([key, column]) => ({ key, ...column }))
      blocks.push({ kind: 'lanes', key: `lanes ${only[1].items[0]?.key ?? ''}`, lanes: made })
    }
    columns = new Map()
  }
  for (const item of list) {
    const column = columnOf(item, lanes, branches)
    if (column === undefined) {
      flush()
      blocks.push(single(item))
      continue
    }
    const own = columns.get(column.key)
    if (own === undefined) columns.set(column.key, { agent: column.agent, items: [item] })
    else own.items.push(item)
  }
  flush()
  return blocks
}

const singles = new WeakMap<Item, Block>()
/** One block object per item, so that an item that did not change is not rendered again. */
function single(item: Item): Block {
  const made = singles.get(item) ?? { kind: 'item', key: item.key, item }
  singles.set(item, made)
  return made
}

/** The outermost lane of the item that has another beside it; undefined in the main column. */
function columnOf(
  item: Item,
  { list, byKey }: Lanes,
  branches: ReadonlyMap<string, Set<string>>,
): { key: string; agent: string } | undefined {
  if (item.node === undefined) return item.branch === undefined ? undefined : branchColumn(item, branches)
  let found: Lane | undefined
  // A parent lane started before its children, so positions fall; a log that says otherwise must not loop for ever.
  let below = Number.POSITIVE_INFINITY
  let at = byKey.get(laneKey(item.run, item.node))
  while (at !== undefined && at < below) {
    const lane = list.at(at)
    if (lane?.beside === true) found = lane
    below = at
    at = lane?.parent === undefined ? undefined : byKey.get(laneKey(item.run, lane.parent))
  }
  return found === undefined ? undefined : { key: found.key, agent: found.agent }
}

function branchColumn(
  { run, branch = '' }: Item,
  branches: ReadonlyMap<string, Set<string>>,
): { key: string; agent: string } | undefined {
  const segments = branch.split('.')
  for (let depth = 0; depth < segments.length; depth++) {
    const above = laneKey(run, segments.slice(0, depth).join('.'))
    if ((branches.get(above)?.size ?? 0) < 2) continue
    const name = segments[depth] ?? ''
    return { key: laneKey(run, segments.slice(0, depth + 1).join('.')), agent: name.split('@')[0] ?? name }
  }
  return undefined
}

/** For each branch of a run, the names right below it. */
function branchSiblings(items: readonly Item[]): ReadonlyMap<string, Set<string>> {
  const below = new Map<string, Set<string>>()
  const seen = new Set<string>()
  for (const { run, branch, node } of items) {
    if (branch === undefined || node !== undefined || seen.has(laneKey(run, branch))) continue
    seen.add(laneKey(run, branch))
    const segments = branch.split('.')
    for (const [depth, segment] of segments.entries()) {
      const above = laneKey(run, segments.slice(0, depth).join('.'))
      const names = below.get(above) ?? new Set()
      below.set(above, names.add(segment))
    }
  }
  return below
}
