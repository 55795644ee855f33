import type { RunEvent } from '@millrace/core'
import { z } from 'zod'
import { adkEngine } from './adk/index.ts'
import type { AgentEngine, EntryEngine, FileEngine } from './agent-engine.ts'
import { langgraphEngine } from './langgraph/index.ts'
import { remoteEngine } from './remote/index.ts'

// The only file that names the engines: a new one needs its folder, its tests and its line here.

/** The engines that run agents from files. A file that exports something for several of them goes to the first. */
export const fileEngines: readonly FileEngine[] = [adkEngine, langgraphEngine]

/** The engines that run agents from the configuration. */
export const entryEngines: readonly EntryEngine[] = [remoteEngine]

/** What `millrace.config` may say of one agent. */
export const agentEntry = z.union([remoteEngine.entry])
export type AgentEntry = z.infer<typeof agentEntry>

const all: readonly AgentEngine[] = [...fileEngines, ...entryEngines]
const privateLogs: ReadonlySet<string> = new Set(all.flatMap((engine) => engine.privateLogs ?? []))

const leftOutLogs: ReadonlySet<string> = new Set(all.flatMap((engine) => engine.leftOutLogs ?? []))

/** Whether the event replaces data of an engine that was too large to keep. */
export function isLeftOutRecord(event: RunEvent): boolean {
  return event.kind === 'log' && leftOutLogs.has(event.message)
}

/** Whether an engine wrote this event for itself, such as a checkpoint. */
export function isEngineRecord(event: RunEvent): boolean {
  return event.kind === 'log' && privateLogs.has(event.message)
}
