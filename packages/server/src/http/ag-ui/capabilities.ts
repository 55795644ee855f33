import type { AgentDescription } from '../../agent/agent.ts'

/** AG-UI AgentCapabilities: only what is true of this agent behind this server. */
export function capabilitiesOf(agent: AgentDescription) {
  const { name, description, engine, capabilities = {}, graph, tools = [], toolDescriptions = {}, model } = agent
  const { parallelToolCalls = false, clientTools = false, reasoning = false } = capabilities
  const agents = graph.nodes.filter(({ kind }) => kind === 'agent')
  const several = agents.length > 1
  return {
    identity: { name, type: engine, description, provider: model?.name ?? engine },
    transport: { streaming: true, websocket: false, httpBinary: true, pushNotifications: false, resumable: true },
    tools: {
      supported: true,
      items: tools.map((tool) => ({ name: tool, description: toolDescriptions[tool] ?? '' })),
      parallelCalls: parallelToolCalls,
      clientProvided: clientTools,
    },
    state: { snapshots: true, deltas: true, memory: false, persistentState: true },
    multiAgent: {
      supported: several,
      delegation: several,
      handoffs: several,
      subagents: agents.slice(1).map(({ id }) => ({ name: id })),
    },
    reasoning: { supported: reasoning, streaming: reasoning, encrypted: false },
    humanInTheLoop: {
      supported: true,
      approvals: true,
      interrupts: true,
      interventions: false,
      feedback: false,
      approveWithEdits: false,
    },
    custom: { offline: model?.offline ?? false },
  }
}
