import { isObject, type RunEvent, type RunInput } from '@millrace/core'
import type { RunContext } from '../agent.ts'
import type { CompiledGraph } from './langgraph-agent.ts'

/**
 * What a client passes to the graph, as it would to LangGraph's own server: `context` for the graph's runtime, and
 * `config.configurable`. Who the user is and which thread runs is not the client's to say.
 */
export function clientConfig({ props = {} }: RunInput, { user }: Pick<RunContext, 'user'>): ClientConfig {
  const { context, config } = props
  const given = isObject(config) && isObject(config.configurable) ? Object.entries(config.configurable) : []
  const configurable = Object.fromEntries(given.filter(([key]) => !isReserved(key)))
  return {
    ...(isObject(context) ? { context } : {}),
    configurable: { ...configurable, langgraph_auth_user_id: user, langgraph_auth_user: { identity: user } },
  }
}

interface ClientConfig {
  readonly context?: object
  readonly configurable: Readonly<Record<string, unknown>>
}

/** Keys that choose a thread, a run or a checkpoint, and keys that only a server or LangGraph itself sets. */
function isReserved(key: string): boolean {
  return key === 'millrace' || /^(__|checkpoint|langgraph)|^(thread|run|task|assistant|graph)_id$/.test(key)
}

/** Recorded once in a session whose graph has a store in memory: unlike checkpoints, it is not kept in the log. */
const lostStore = {
  kind: 'log',
  level: 'warn',
  message: 'the graph’s store is in memory: what it keeps there is lost when the process of the agent ends',
} as const

export function storeNote({ store }: CompiledGraph, { history }: RunContext): readonly RunEvent[] {
  const name = isObject(store) ? String(Object.getPrototypeOf(store)?.constructor?.name) : ''
  const isSaid = history.some(({ event }) => event.kind === 'log' && event.message === lostStore.message)
  return name.startsWith('InMemory') && !isSaid ? [lostStore] : []
}
