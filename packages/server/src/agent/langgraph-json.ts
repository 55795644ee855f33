import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { isObject } from '@millrace/core'
import { messageOf } from './problem.ts'

/** Why a folder cannot be run from here, and what its author can do about it. */
export interface Refusal {
  readonly engine: 'python' | 'broken'
  readonly reason: string
}

/** A graph that LangGraph's platform file names: `"triage": "./src/triage.ts:graph"`. */
interface NamedGraph {
  readonly name: string
  readonly file: string
  readonly exported: string
}

/** The file in which a project of LangGraph's platform names its graphs. */
export const platformFile = 'langgraph.json'

/**
 * What to do with a project of LangGraph's platform, `folder` of the agents folder `root`; without `folder`, the agents
 * folder is the project. Undefined when there is no such file, or when it names no graph.
 */
export function platformRefusal(root: string, folder = ''): Refusal | undefined {
  const shown = posix.join(folder, platformFile)
  let graphs: readonly NamedGraph[]
  try {
    graphs = graphsOf(JSON.parse(readFileSync(join(root, folder, platformFile), 'utf8')))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== undefined) return undefined
    return { engine: 'broken', reason: `${shown} is no JSON: ${messageOf(error)}` }
  }
  const python = graphs.find(({ file }) => file.endsWith('.py'))
  if (python !== undefined) {
    const reason = `${shown} names ${python.file}, which is written in Python: it runs behind \`langgraph dev\`, see docs/python-agents.md`
    return { engine: 'python', reason }
  }
  const [graph, ...more] = graphs
  if (graph === undefined) return undefined
  const isAlone = more.length === 0 && folder !== ''
  // Here one folder is one agent, so a project with several graphs needs a folder beside it for each.
  const target = isAlone ? folder : graph.name
  const path = isAlone ? `./${posix.normalize(graph.file)}` : `../${posix.join(folder, graph.file)}`
  const line = `export { ${asGraph(graph.exported)} } from '${path}'`
  const what = more.length === 0 ? graph.file : `${graphs.length} graphs (${graphs.map(({ name }) => name).join(', ')})`
  const each = more.length === 0 ? '' : ', and the same for the others'
  return { engine: 'broken', reason: `${shown} names ${what}: write ${target}/agent.ts with \`${line}\`${each}.` }
}

const asGraph = (exported: string): string => (exported === 'graph' ? exported : `${exported} as graph`)

function graphsOf(config: unknown): readonly NamedGraph[] {
  const graphs = isObject(config) && isObject(config.graphs) ? config.graphs : {}
  return Object.entries(graphs).flatMap(([name, value]) => {
    const path = isObject(value) ? value.path : value
    if (typeof path !== 'string') return []
    const [, file = path, exported = 'graph'] = /^(.*):([^:/\\]+)$/.exec(path) ?? []
    return [{ name, file, exported }]
  })
}
