import type { AgentDescription } from '../../agent/agent.ts'

/** The agent's graph as DOT, which adk-web draws. `lit` are the nodes to highlight. */
export function dotOf({ name, graph }: AgentDescription, dark: boolean, lit: ReadonlySet<string> = new Set()): string {
  const ink = dark ? '#dfe4e8' : '#1b2329'
  const paper = dark ? '#20262b' : '#ffffff'
  const glow = dark ? '#1f5b58' : '#c9ece8'
  const nodes = graph.nodes.map(({ id, kind }) => {
    const shape = kind === 'tool' ? 'box' : kind === 'start' || kind === 'end' ? 'circle' : 'ellipse'
    return `  ${quoted(id)} [shape=${shape}, style="filled,rounded", fillcolor="${lit.has(id) ? glow : paper}", color="${ink}", fontcolor="${ink}"];`
  })
  const edges = graph.edges.map(({ from, to, label }) => {
    const taken = lit.has(from) && lit.has(to)
    const text = label === undefined ? '' : `, label=${quoted(label)}`
    return `  ${quoted(from)} -> ${quoted(to)} [color="${taken ? '#0b8f86' : ink}"${taken ? ', penwidth=2' : ''}${text}];`
  })
  return `digraph ${quoted(name)} {\n  rankdir=LR;\n  bgcolor="transparent";\n${[...nodes, ...edges].join('\n')}\n}`
}

const quoted = (text: string): string =>
  `"${text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replace(/[\r\n]/g, ' ')}"`
