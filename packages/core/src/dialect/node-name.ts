import type { NodeId } from '../event/run-event.ts'

/** The agent or graph step in a node id: `coordinator/burn_analyst@2` is `burn_analyst`. */
export function nodeName(id: NodeId): string {
  return id.slice(id.lastIndexOf('/') + 1).replace(/@\d+$/, '')
}
