import type { AgentDescription, AgentGraphNode } from '../../agent/agent.ts'

type Kind = AgentGraphNode['kind']

/** Colours of a graph on a light and on a dark page. */
const palettes = {
  light: { ink: '#1b2329', line: '#5b6770', paper: '#ffffff', border: '#8b98a3', glow: '#c9ece8', taken: '#0b8f86' },
  dark: { ink: '#eef2f5', line: '#9fb0bd', paper: '#20262b', border: '#5b6770', glow: '#1f5b58', taken: '#35c4b8' },
}

/** The sign before a node's name, and its colour. */
const signs: Readonly<Record<Kind, readonly [string, string]>> = {
  agent: ['✦', '#3b82f6'],
  step: ['ƒ', '#10b981'],
  tool: ['⚒', '#8b8f94'],
  start: ['▶', '#10b981'],
  end: ['■', '#ef4444'],
}

/** These labels are on most edges of a team of agents; as tooltips they take no room. */
const usual: ReadonlySet<string> = new Set(['transfer', 'consults'])

/** Longer names are broken, so that nodes stay narrow. */
const longest = 14

/** With more than this many nodes side by side, a graph that grows downwards is too wide for adk-web's panel. */
const widest = 3

/** The agent's graph as DOT, which adk-web draws. `lit` are the nodes to highlight. */
export function dotOf({ name, graph }: AgentDescription, dark: boolean, lit: ReadonlySet<string> = new Set()): string {
  const { ink, line, paper, border, glow, taken } = palettes[dark ? 'dark' : 'light']
  const nodes = graph.nodes.map(({ id, kind }) => {
    const [sign, colour] = signs[kind]
    const label = `<<FONT COLOR="${colour}" POINT-SIZE="14">${sign}</FONT> ${linesOf(nameOf(id)).map(escaped).join('<BR/>')}>`
    const style = kind === 'tool' ? 'filled,rounded,dashed' : 'filled,rounded'
    const isLit = lit.has(id)
    return `  ${quoted(id)} [${attributes({
      label,
      tooltip: quoted(kind),
      style: quoted(style),
      fillcolor: quoted(isLit ? glow : paper),
      color: quoted(isLit ? taken : border),
    })}];`
  })
  const edges = graph.edges.map(({ from, to, label }) => {
    const isTaken = lit.has(from) && lit.has(to)
    return `  ${quoted(from)} -> ${quoted(to)} [${attributes({
      ...(isTaken ? { color: quoted(taken), penwidth: '2' } : {}),
      ...(label === undefined ? {} : { [usual.has(label) ? 'tooltip' : 'label']: quoted(label) }),
    })}];`
  })
  return [
    `digraph ${quoted(name)} {`,
    `  graph [rankdir=${isWide(graph) ? 'LR' : 'TB'}, bgcolor="transparent", pad=0.1, nodesep=0.25, ranksep=0.3, fontname="Helvetica"];`,
    `  node [shape=rect, penwidth=1.5, margin="0.2,0.08", fontname="Helvetica", fontsize=13, fontcolor="${ink}"];`,
    `  edge [color="${line}", fontcolor="${ink}", penwidth=1.2, arrowsize=0.7, fontname="Helvetica", fontsize=11];`,
    ...nodes,
    ...edges,
    '}',
  ].join('\n')
}

/** Whether a node leads to more nodes than fit side by side. */
function isWide({ edges }: AgentDescription['graph']): boolean {
  const out = new Map<string, number>()
  for (const { from } of edges) out.set(from, (out.get(from) ?? 0) + 1)
  return [...out.values()].some((count) => count > widest)
}

/** The last name of a path: adk-web's panel is narrow, and the tree shows the rest. */
const nameOf = (id: string): string => id.split('/').at(-1) ?? id

/** Two lines for a long name, broken at the `_` or `-` that is nearest to its middle. */
function linesOf(name: string): readonly string[] {
  if (name.length <= longest) return [name]
  const breaks = [...name.matchAll(/[_-]/g)].map(({ index }) => index + 1)
  const middle = name.length / 2
  const [best] = breaks.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle))
  return best === undefined || best === name.length ? [name] : [name.slice(0, best), name.slice(best)]
}

const attributes = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ')

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

const quoted = (text: string): string =>
  `"${text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replace(/[\r\n]/g, ' ')}"`
