import type { AgentDescription } from './agent.ts'

/** The description of an agent that could not be loaded: it is listed, with the reason. */
export function brokenDescription(name: string, error: string): AgentDescription {
  return { ...bare(name, 'broken'), error }
}

/** The description of an agent whose file is still being loaded. */
export function loadingDescription(name: string, error: string): AgentDescription {
  return { ...bare(name, 'loading'), engineLabel: 'Loading', error }
}

/** The description of an agent that is written in Python: it is listed, with where it runs. */
export function pythonDescription(name: string, error: string): AgentDescription {
  return { ...bare(name, 'python'), engineLabel: 'Python', error }
}

function bare(name: string, engine: string): AgentDescription {
  return { name, description: '', engine, graph: { nodes: [], edges: [] }, examples: [], resumable: false }
}
