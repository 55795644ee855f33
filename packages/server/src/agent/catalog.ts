import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type Host, MillraceError } from '@millrace/core'
import type { Agent, AgentDescription } from './agent.ts'
import { type AgentFolder, agentFolders } from './agent-folders.ts'
import { brokenDescription, pythonDescription } from './broken-description.ts'
import type { MillraceConfig } from './config.ts'
import { type AgentEntry, entryEngines } from './engines.ts'
import { FileAgent, type FileAgentOptions } from './file-agent.ts'
import { type AgentProcesses, agentProcesses, type IsolateOptions } from './isolate/agent-processes.ts'
import type { Refusal } from './langgraph-json.ts'
import { lazyStream } from './lazy-stream.ts'
import { type ModelSettings, modelSettings } from './model/settings.ts'
import { openAgent } from './open-agent.ts'
import { TurnSet } from './turn-set.ts'
import { describedWhenLoaded } from './when-loaded.ts'

/** How long the start waits for one agent to load before it lists it as loading, in ms. */
const loadPatience = 10_000

export interface DiscoveryOptions {
  readonly models?: ModelSettings
  readonly config?: MillraceConfig
  /** How agents of the configuration reach their servers: `webHost(globalThis)`. */
  readonly host?: Host
  /**
   * Milliseconds that a listing waits for an agent's file while this process has nothing else to do: 2 s. A run waits ten
   * times as long.
   */
  readonly patience?: number
  /** The environment of the agent in a folder, read before each load of its file. Its model settings win over `models`. */
  readonly env?: (folder: string) => Readonly<Record<string, string | undefined>>
  /** Files that `env` reads besides the `.env` of an agent's folder and of the folder around it: an edit loads the agents again. */
  readonly envFiles?: readonly string[]
  /** Called whenever an agent's file was loaded; `again` says that it was loaded before. */
  readonly onLoad?: (description: AgentDescription, again: boolean) => void
  /** Called for each error that an agent's own code threw during a run, with the place in its file. */
  readonly onThrow?: (agent: string, run: string, message: string) => void
  /** Runs each agent of the folder in a process of its own: its faults end its own runs only. Absent: in this process. */
  readonly isolate?: IsolateOptions
}

/** The agents of one server, by name. */
export interface AgentCatalog {
  /** As of the last `refresh`. */
  readonly agents: ReadonlyMap<string, Agent>
  /** Takes up folders that were added or removed; with a name, only that one. */
  refresh(name?: string): void
  /**
   * Loads every agent, so that the first run does not wait: in this process one after the other, in processes of their
   * own as many at once as there are processors. Broken ones are skipped.
   */
  warm(): Promise<readonly AgentDescription[]>
  /** Takes up what was added, removed or edited, and begins to load it. */
  reload(): void
  /** Ends the processes of isolated agents. */
  close(): Promise<void>
}

/**
 * The agents in `<folder>/<name>/agent.ts`, and those of the configuration. This only looks at names: a file is loaded
 * when its agent is first described or run, and again when it has changed. A file that does not load is listed as an
 * agent with an error.
 */
export function discoverAgents(folder: string | undefined, options: DiscoveryOptions = {}): AgentCatalog {
  const root = folder === undefined ? undefined : resolve(folder)
  const processes = options.isolate === undefined ? undefined : agentProcesses(options, options.isolate)
  const fileOptions = fileAgentOptions(options, processes)
  const entries = new Map<string, Agent>()
  for (const [name, entry] of Object.entries(options.config?.agents ?? {})) {
    entries.set(name, openEntry(name, entry, options.host))
  }
  const agents = new Map<string, Agent>()
  const files = new Map<string, string>()
  let isClosed = false
  const scan = (): void => {
    const kept = new Map(agents)
    const keptFiles = new Map(files)
    agents.clear()
    files.clear()
    for (const one of root === undefined ? [] : agentFolders(root)) {
      const { name, file } = one
      files.set(name, file)
      const before = keptFiles.get(name) === file ? kept.get(name) : undefined
      const known = before instanceof FileAgent ? before : undefined
      agents.set(name, known ?? openFolder(one, fileOptions))
    }
    // An agent of the configuration keeps its name when a folder of the same name is added later.
    for (const [name, agent] of entries) agents.set(name, agent)
    for (const [name, agent] of kept) if (agent instanceof FileAgent && agents.get(name) !== agent) agent.retire()
  }
  scan()
  const twice = [...entries.keys()].find((name) => files.has(name))
  if (twice !== undefined) {
    throw new MillraceError('conflict', `the agent ${twice} is a folder and also in the configuration: rename one`)
  }
  const looked = new TurnSet()
  const refresh = (name?: string): void => {
    if (name !== undefined && looked.has(name)) return
    if (isClosed || root === undefined || !existsSync(root)) return
    const isFile = name !== undefined && agents.get(name) instanceof FileAgent && existsSync(files.get(name) ?? '')
    if (name !== undefined && (entries.has(name) || isFile)) looked.add(name)
    else scan()
  }
  return {
    agents,
    refresh,
    async warm() {
      const all = [...agents.values()]
      if (options.isolate !== undefined)
        return Promise.all(all.map((agent) => describedWhenLoaded(agent, loadPatience)))
      const described: AgentDescription[] = []
      for (const agent of all) described.push(await describedWhenLoaded(agent, loadPatience))
      return described
    },
    reload() {
      if (isClosed) return
      refresh()
      for (const agent of agents.values()) if (agent instanceof FileAgent) agent.refresh()
    },
    async close() {
      isClosed = true
      processes?.close()
      await Promise.all([...agents.values()].map((agent) => (agent instanceof FileAgent ? agent.close() : undefined)))
    },
  }
}

function fileAgentOptions(options: DiscoveryOptions, processes: AgentProcesses | undefined): FileAgentOptions {
  const { patience = 2_000, envFiles = [], onLoad, onThrow } = options
  return {
    envFiles,
    open: processes === undefined ? openHere(options) : processes.open,
    patience,
    onLoad: onLoad ?? (() => {}),
    onThrow: onThrow ?? (() => {}),
  }
}

function openHere({ models = {}, env }: DiscoveryOptions): FileAgentOptions['open'] {
  return (name, file, again) =>
    openAgent(name, file, env === undefined ? models : { ...models, ...modelSettings(env(dirname(file))) }, again)
}

function openFolder({ name, file, refusal }: AgentFolder, options: FileAgentOptions): Agent {
  return refusal === undefined ? new FileAgent(name, file, options) : listedAgent(name, refusal)
}

/** An agent that is listed only, so that its author sees how to run it. */
function listedAgent(name: string, { engine, reason }: Refusal): Agent {
  return {
    name,
    describe: async () => (engine === 'python' ? pythonDescription(name, reason) : brokenDescription(name, reason)),
    run: () =>
      lazyStream(async () => {
        throw new MillraceError('agent-error', reason)
      }),
  }
}

function openEntry(name: string, entry: AgentEntry, host: Host | undefined): Agent {
  if (host === undefined) {
    throw new MillraceError(
      'invalid',
      `the agent ${name} is in the configuration: discoverAgents needs a host to reach it`,
    )
  }
  for (const engine of entryEngines) {
    const agent = engine.open(name, entry, host)
    if (agent !== undefined) return agent
  }
  throw new MillraceError('invalid', `the entry of the agent ${name} in the configuration is not valid: see loadConfig`)
}
