import type { AgentDescription } from './agent.ts'

/** The description of an agent that could not be loaded: it is listed, with the reason. */
export function brokenDescription(name: string, error: string): AgentDescription {
  const graph = { nodes: [], edges: [] }
  return { name, description: '', engine: 'broken', graph, examples: [], resumable: false, error }
}
