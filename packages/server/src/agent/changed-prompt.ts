import { type AdkContent, type Changed, isObject, type NodeId, nodePath, type Recorded } from '@millrace/core'
import type { RunContext } from './agent.ts'

/** The request that a person gave one model call of the run. */
export interface ChangedPrompt {
  readonly agent: string
  /** The path of the node whose call it is; its execution has another number now. */
  readonly path: string
  /** The function call that a specialist answers, where the call is made inside one. */
  readonly nested: string | undefined
  /** How many model calls the node makes before it. */
  readonly earlier: number
  readonly system?: string
  readonly contents?: readonly AdkContent[]
}

/** The changed request of a run that goes on with one; undefined once the call has been made. */
export function changedPrompt({ history, run, resumed }: RunContext): ChangedPrompt | undefined {
  const at = resumed ? history.findLastIndex((row) => row.run === run && isPrompt(row.event)) : -1
  const changed = history[at]?.event
  if (changed === undefined || !isPrompt(changed)) return undefined
  const { node = '', agent = '', after } = changed
  const path = nodePath(node)
  const isOfNode = ({ event }: Recorded): boolean =>
    event.kind === 'model.started' && event.agent === agent && nodePath(event.node ?? '') === path
  if (!isObject(after) || history.slice(at).some(isOfNode)) return undefined
  const { system, contents, earlier } = after
  return {
    agent,
    path,
    nested: callAround(history, node),
    earlier: typeof earlier === 'number' ? earlier : 0,
    ...(typeof system === 'string' ? { system } : {}),
    ...(Array.isArray(contents) ? { contents: contents as readonly AdkContent[] } : {}),
  }
}

function isPrompt(event: Recorded['event']): event is Changed {
  return event.kind === 'changed' && event.field === 'prompt'
}

/** The call of the specialist that the node is, or is part of. */
function callAround(history: readonly Recorded[], node: NodeId): string | undefined {
  for (let at: NodeId | undefined = node; at !== undefined; ) {
    const found = history.findLast(({ event }) => event.kind === 'node.started' && event.node === at)?.event
    if (found?.kind !== 'node.started') return undefined
    if (found.call !== undefined) return found.call
    at = found.parent
  }
  return undefined
}
