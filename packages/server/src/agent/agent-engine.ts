import type { Host } from '@millrace/core'
import type { z } from 'zod'
import type { Agent, EngineDescription } from './agent.ts'
import type { ModelSettings } from './model/settings.ts'

/** What every agent engine declares in its folder's `index.ts`. `engines.ts` lists the engines. */
export interface AgentEngine {
  readonly about: EngineDescription
  /** Messages of the `log` rows in which the engine keeps its own data. Only Millrace's own clients receive these rows. */
  readonly privateLogs?: readonly string[]
  /** Messages of the `log` rows that replace data that was too large to keep. */
  readonly leftOutLogs?: readonly string[]
}

/** An engine that runs what the file of an agent exports. */
export interface FileEngine extends AgentEngine {
  /** The name under which its authors export, the usual one first. Any engine's export may also be `agent` or the default. */
  readonly exports: readonly string[]
  /** What such an export is, for the error of a file that has none: `a compiled LangGraph`. */
  readonly exported: string
  /** Packages that a file may import although its folder has no node_modules: the server hands over its own copy. */
  readonly packages: readonly string[]
  /**
   * Modules that a file always gets from the server, by the name they are imported with, because their classes are
   * compared with the server's, or because they keep the state of runs in memory.
   */
  readonly modules: Readonly<Record<string, () => Promise<unknown>>>
  /** Whether the value can be run, judged by its shape: the engine's packages are not imported for this. */
  recognises(value: unknown): boolean
  /**
   * Whether the value holds an agent and more, such as the plugins of ADK's App. It is taken under any name, before the
   * agent that is in it: without it, what else it holds would not run.
   */
  holds?(value: unknown): boolean
  /** Whether a function under one of `exports` makes the agent. */
  readonly factories: boolean
  /** What to do when the author exported a value under one of `exports` that it does not recognise. */
  readonly remedy: string
  open(name: string, file: LoadedAgentFile, models: ModelSettings): Agent
  /**
   * Reaches the models that the file makes itself, so that a tape plays and keeps their answers and a changed request is
   * sent. Called where there is a tape or such a request.
   */
  hookModels?(file: string): Promise<void>
}

/** The file of an agent, as its engine receives it. */
export interface LoadedAgentFile {
  /** The value of the export that the engine recognised. */
  readonly exported: unknown
  /** Everything that the file exports, for settings of one engine only. */
  readonly exports: Readonly<Record<string, unknown>>
  readonly description?: string
  readonly examples?: readonly string[]
  readonly resumable?: boolean
}

/** An engine that runs what an entry of `millrace.config` describes. */
export interface EntryEngine extends AgentEngine {
  readonly entry: z.ZodType
  /** Undefined when the entry is one of another engine. */
  open(name: string, entry: unknown, host: Host): Agent | undefined
}
