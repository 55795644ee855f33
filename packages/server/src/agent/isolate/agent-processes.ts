import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import { type ModelSettings, modelSettings } from '../model/settings.ts'
import { type IsolatedAgent, isolatedAgent } from './isolated-agent.ts'
import { ProcessPool } from './process-pool.ts'
import { SpareProcess } from './spare-process.ts'

export interface IsolateOptions {
  /** How long an agent's code may block its thread, in ms: 30 s. */
  readonly blocked?: number
  /** How large the heap of one agent may become, in MB: 1024. */
  readonly memory?: number
  /** How long the process of an agent stays without runs, in ms: ten minutes. */
  readonly idle?: number
  /** How many processes without runs stay: 12, or all when `idle` is infinite. */
  readonly kept?: number
  /** For the server's log. The stack names files of this machine. */
  readonly onFault?: (agent: string, message: string, stack?: string) => void
}

/** The processes of all agents of one folder. */
export interface AgentProcesses {
  /** Opens an agent. Each version of its file gets a process of its own, so nothing of an older version is left in it. */
  open(name: string, file: string): Promise<IsolatedAgent>
  /** Ends what belongs to no agent yet. */
  close(): void
}

export interface ProcessSettings {
  readonly models?: ModelSettings
  readonly env?: (folder: string) => Readonly<Record<string, string | undefined>>
}

export function agentProcesses({ models, env }: ProcessSettings, isolate: IsolateOptions): AgentProcesses {
  const { onFault, blocked = 30_000, memory = 1024, idle = 10 * 60_000 } = isolate
  const { kept = idle === Number.POSITIVE_INFINITY ? idle : 12 } = isolate
  const pool = new ProcessPool({ loadsAtOnce: availableParallelism(), idle, kept })
  const spare = new SpareProcess(memory)
  const { fetch: _, ...sent } = models ?? {}
  return {
    async open(name, file) {
      const variables = env?.(dirname(file))
      const own = variables === undefined ? {} : { env: variables }
      return isolatedAgent({
        agent: { name, file, models: { ...sent, ...modelSettings(variables ?? {}) }, ...own },
        limits: { blocked, memory },
        pool,
        spare,
        onFault: (message, stack) => onFault?.(name, message, stack),
      })
    },
    close: () => spare.close(),
  }
}
