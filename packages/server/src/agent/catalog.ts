import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { defined, type Host, MillraceError } from '@millrace/core'
import type { Agent } from './agent.ts'
import { type AgentFile, loadAgentFile } from './agent-file.ts'
import { brokenDescription } from './broken-description.ts'
import type { MillraceConfig } from './config.ts'
import { type AgentEntry, entryEngines } from './engines.ts'
import { type IsolatedAgent, isolatedAgent } from './isolate/isolated-agent.ts'
import { lazyStream } from './lazy-stream.ts'
import type { ModelSettings } from './model/settings.ts'
import { messageOf } from './problem.ts'

export interface DiscoveryOptions {
  readonly models?: ModelSettings
  readonly config?: MillraceConfig
  /** How agents of the configuration reach their servers: `webHost(globalThis)`. */
  readonly host?: Host
  /** Milliseconds that an agent's file may take to load before it counts as broken: 20 s. */
  readonly patience?: number
  /** Runs each agent of the folder in a process of its own: its faults end its own runs only. Absent: in this process. */
  readonly isolate?: IsolateOptions
}

export interface IsolateOptions {
  /** How long an agent's code may block its thread, in ms: 30 s. */
  readonly blocked?: number
  /** How large the heap of one agent may become, in MB: 1024. */
  readonly memory?: number
  /** For the server's log. The stack names files of this machine. */
  readonly onFault?: (agent: string, message: string, stack?: string) => void
}

/** The agents of one server, by name. */
export interface AgentCatalog {
  readonly agents: ReadonlyMap<string, Agent>
  /** Loads every agent, one after the other, so that the first run does not wait. Broken ones are skipped. */
  warm(): Promise<void>
  /** Ends the processes of isolated agents. */
  close(): Promise<void>
}

const files = ['agent.ts', 'agent.mts', 'agent.js', 'agent.mjs', 'agent.cjs']

/**
 * The agents in `<folder>/<name>/agent.ts`, and those of the configuration. This only looks at names: a file is loaded
 * when its agent is first described or run. A file that does not load is listed as an agent with an error.
 */
export function discoverAgents(folder: string | undefined, options: DiscoveryOptions = {}): AgentCatalog {
  const agents = new Map<string, Agent>()
  const isolated: IsolatedAgent[] = []
  for (const { name, file } of folder === undefined ? [] : agentFiles(resolve(folder))) {
    if (options.isolate === undefined) agents.set(name, fileAgent(name, file, options))
    else {
      const agent = inProcess(name, file, options, options.isolate)
      isolated.push(agent)
      agents.set(name, agent)
    }
  }
  for (const [name, entry] of Object.entries(options.config?.agents ?? {})) {
    if (agents.has(name)) {
      throw new MillraceError('conflict', `the agent ${name} is a folder and also in the configuration: rename one`)
    }
    agents.set(name, openEntry(name, entry, options.host))
  }
  return {
    agents,
    async warm() {
      for (const agent of agents.values()) await agent.describe()
    },
    async close() {
      await Promise.all(isolated.map((agent) => agent.close()))
    },
  }
}

function agentFiles(folder: string): readonly { readonly name: string; readonly file: string }[] {
  if (!existsSync(folder)) throw new MillraceError('not-found', `the agents folder ${folder} does not exist`)
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

/** The agent of a file in a process of its own. That process calls `fileAgent`. */
function inProcess(
  name: string,
  file: string,
  { models: { fetch: _, ...models } = {}, patience }: DiscoveryOptions,
  { onFault, ...limits }: IsolateOptions,
): IsolatedAgent {
  return isolatedAgent({
    agent: { name, file, models, ...defined({ patience }) },
    limits: defined(limits),
    onFault: (message, stack) => onFault?.(name, message, stack),
  })
}

/** An agent whose file, and so whose engine, is known once it is first used. */
export function fileAgent(
  name: string,
  file: string,
  { models = {}, patience = 20_000 }: Pick<DiscoveryOptions, 'models' | 'patience'>,
): Agent {
  let loading: Promise<Agent> | undefined
  const load = (): Promise<Agent> => {
    loading ??= inTime(
      loadAgentFile(file).then((loaded) => openFile(name, loaded, models)),
      patience,
      `${file} has not loaded in ${patience / 1000} s: check for a top-level await that never ends`,
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
        return brokenDescription(name, messageOf(error))
      }
    },
    run: (input, context) => lazyStream(async () => (await load()).run(input, context)),
  }
}

/** Rejects when `work` takes longer than `patience` ms; `late` receives it when it does settle. */
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

function openFile(name: string, { engine, title, ...file }: AgentFile, models: ModelSettings): Agent {
  const agent = engine.open(name, file, models)
  if (title === undefined) return agent
  return { ...agent, describe: async () => ({ ...(await agent.describe()), title }) }
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
