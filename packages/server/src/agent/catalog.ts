import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { MillraceError } from '@millrace/core'
import { adkAgent } from './adk/adk-agent.ts'
import type { Agent, AgentDescription } from './agent.ts'
import { type AgentFile, loadAgentFile } from './agent-file.ts'
import type { MillraceConfig, RemoteEntry } from './config.ts'
import { type CompiledGraph, graphAgent } from './langgraph/langgraph-agent.ts'
import { lazyStream } from './lazy-stream.ts'
import { chooseModel, type ModelSettings } from './model/settings.ts'
import { messageOf } from './problem.ts'

export interface DiscoveryOptions {
  readonly models?: ModelSettings
  readonly config?: MillraceConfig
  /** Makes the agent for a remote entry of the configuration. */
  readonly remote?: (name: string, entry: RemoteEntry) => Agent
  /** How long an agent's file may take to load before the others stop waiting for it, in ms: 20 s. */
  readonly patience?: number
}

/** The agents of one server, by name. */
export interface AgentCatalog {
  readonly agents: ReadonlyMap<string, Agent>
  /** Loads every agent, one after the other, so that the first run does not wait. Broken ones are passed over. */
  warm(): Promise<void>
}

const files = ['agent.ts', 'agent.mts', 'agent.js', 'agent.mjs', 'agent.cjs']

/**
 * `<folder>/<name>/agent.ts` each, and the remote agents of the configuration. Only looks at names: a file is loaded
 * when its agent is first described or run, and one that does not load is an agent that says so.
 */
export function discoverAgents(folder: string | undefined, options: DiscoveryOptions = {}): AgentCatalog {
  const agents = new Map<string, Agent>()
  for (const { name, file } of folder === undefined ? [] : agentFiles(resolve(folder))) {
    agents.set(name, fileAgent(name, file, options))
  }
  for (const [name, entry] of Object.entries(options.config?.agents ?? {})) {
    if (agents.has(name)) {
      throw new MillraceError('conflict', `the agent ${name} is a folder and also in the configuration: rename one`)
    }
    const remote = options.remote?.(name, entry)
    if (remote !== undefined) agents.set(name, remote)
  }
  return {
    agents,
    async warm() {
      for (const agent of agents.values()) await agent.describe()
    },
  }
}

function agentFiles(folder: string): readonly { readonly name: string; readonly file: string }[] {
  if (!existsSync(folder)) throw new MillraceError('not-found', `there is no folder ${folder} to look for agents in`)
  const entries = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => !/^[._]|^node_modules$/.test(entry.name),
  )
  return entries
    .flatMap(({ name }) => {
      const file = files.map((candidate) => join(folder, name, candidate)).find((path) => existsSync(path))
      return file === undefined ? [] : [{ name, file }]
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Which engine runs it is known once its file is loaded. */
function fileAgent(name: string, file: string, { models = {}, patience = 20_000 }: DiscoveryOptions): Agent {
  let loading: Promise<Agent> | undefined
  const load = (): Promise<Agent> => {
    loading ??= inTime(
      loadAgentFile(file).then((loaded) => engineOf(name, loaded, models)),
      patience,
      `${file} has not loaded in ${patience / 1000} s: is there an await at its top that never ends?`,
      (late) => {
        loading = late
      },
    )
    return loading
  }
  return {
    name,
    async describe() {
      try {
        return await (await load()).describe()
      } catch (error) {
        return broken(name, messageOf(error))
      }
    },
    run: (input, context) => lazyStream(async () => (await load()).run(input, context)),
  }
}

/** Rejects when `work` takes too long; `late` gets it when it is done after all. */
function inTime<T>(work: Promise<T>, patience: number, message: string, late: (work: Promise<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const clock = setTimeout(() => {
      reject(new MillraceError('agent-error', message))
      work.then(
        () => late(work),
        () => late(work),
      )
    }, patience)
    work.then(resolve, reject).finally(() => clearTimeout(clock))
  })
}

function engineOf(name: string, file: AgentFile, models: ModelSettings): Agent {
  const { rootAgent, graph, title, ...about } = file
  const agent =
    rootAgent === undefined
      ? graphAgent(name, async () => ({ ...about, graph: compiled(graph), model: modelOf(models) }), models)
      : adkAgent(name, async () => rootAgent, { ...about, models })
  if (title === undefined) return agent
  return { ...agent, describe: async () => ({ ...(await agent.describe()), title }) }
}

/** What a graph's chat model will choose: the settings are all that decides. */
function modelOf(models: ModelSettings): { readonly name: string; readonly offline: boolean } {
  const choice = chooseModel(models, undefined, true)
  return { name: choice.name, offline: choice.kind === 'offline' }
}

function compiled(graph: unknown): CompiledGraph {
  if (typeof graph === 'object' && graph !== null && 'streamEvents' in graph) return graph as CompiledGraph
  throw new MillraceError('agent-error', 'graph must be a compiled LangGraph: export graph.compile()')
}

function broken(name: string, error: string): AgentDescription {
  const graph = { nodes: [], edges: [] }
  return { name, description: '', engine: 'broken', graph, examples: [], resumable: false, error }
}
