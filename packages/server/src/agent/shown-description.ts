import { defined } from '@millrace/core'
import type { Agent, AgentDescription, AgentGraphNode } from './agent.ts'
import { withoutOwnSecrets } from './own-secrets.ts'

const clean = (text: string | undefined): string | undefined => text && withoutOwnSecrets(text)

/** What an agent says of itself, without its secrets: every user may read it, and an author may put a key into a text. */
export function withoutSecretTexts(described: AgentDescription): AgentDescription {
  const { description, examples, graph, toolDescriptions } = described
  return {
    ...described,
    description: withoutOwnSecrets(description),
    examples: examples.map(withoutOwnSecrets),
    graph: { ...graph, nodes: graph.nodes.map(cleanNode) },
    ...defined({ toolDescriptions: toolDescriptions && cleanValues(toolDescriptions) }),
  }
}

function cleanNode(node: AgentGraphNode): AgentGraphNode {
  const { description, instruction } = node
  return { ...node, ...defined({ description: clean(description), instruction: clean(instruction) }) }
}

function cleanValues(texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, withoutOwnSecrets(text)]))
}

/** The agent, as users may see it who are not to read what its models are told. */
export function withoutInstructions(agent: Agent): Agent {
  return {
    name: agent.name,
    describe: async () => {
      const { graph, ...described } = await agent.describe()
      return { ...described, graph: { ...graph, nodes: graph.nodes.map(({ instruction: _, ...node }) => node) } }
    },
    run: (input, context) => agent.run(input, context),
  }
}
