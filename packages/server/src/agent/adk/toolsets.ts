import type { BaseToolset } from '@google/adk'
import { type McpClient, mcpClientOf } from './mcp-client.ts'

interface Use {
  /** How many runs use the toolset now. */
  runs: number
  readonly mcp: McpClient | undefined
}

const uses = new WeakMap<BaseToolset, Use>()

/** The toolsets of an agent, in use by one run. */
export interface ToolsetsInUse {
  /** Ends the use. Resolves when the MCP servers that no other run uses have ended; may be called more than once. */
  release(): Promise<void>
}

/**
 * ADK's Runner closes every toolset of the agent after every run, even while another run uses it. After this call only
 * the close by the last run takes effect.
 */
export function useToolsets(toolsets: readonly BaseToolset[]): ToolsetsInUse {
  for (const toolset of toolsets) useOf(toolset).runs += 1
  let released: Promise<void> | undefined
  return {
    release() {
      released ??= Promise.all(toolsets.map(leave)).then(() => undefined)
      return released
    },
  }
}

function useOf(toolset: BaseToolset): Use {
  const known = uses.get(toolset)
  if (known !== undefined) return known
  const use: Use = { runs: 0, mcp: mcpClientOf(toolset, () => use.runs > 0) }
  uses.set(toolset, use)
  const close = toolset.close.bind(toolset)
  toolset.close = async () => {
    if (use.runs <= 1) await close()
  }
  return use
}

async function leave(toolset: BaseToolset): Promise<void> {
  const use = useOf(toolset)
  use.runs -= 1
  if (use.runs === 0) await use.mcp?.close()
}
