import type { BaseToolset } from '@google/adk'

/** How many runs use a toolset now. */
const users = new WeakMap<BaseToolset, number>()

/**
 * ADK's Runner closes every toolset of the agent after every run, even while another run uses it. After this call only
 * the close by the last run takes effect. Call the returned function when the run is over.
 */
export function useToolsets(toolsets: readonly BaseToolset[]): () => void {
  for (const toolset of toolsets) {
    const before = users.get(toolset)
    if (before === undefined) {
      const close = toolset.close.bind(toolset)
      toolset.close = async () => {
        if ((users.get(toolset) ?? 0) <= 1) await close()
      }
    }
    users.set(toolset, (before ?? 0) + 1)
  }
  return () => {
    for (const toolset of toolsets) users.set(toolset, (users.get(toolset) ?? 1) - 1)
  }
}
