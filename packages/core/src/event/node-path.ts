import type { NodeId } from './run-event.ts'

/** A node without the number of its execution: `coordinator/burn_analyst@2` is `coordinator/burn_analyst`. */
export function nodePath(node: NodeId): string {
  const at = node.lastIndexOf('@')
  return at <= 0 ? node : node.slice(0, at)
}
