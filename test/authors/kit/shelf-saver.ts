import { BaseCheckpointSaver, MemorySaver } from '@langchain/langgraph'
import type { EventLog, Recorded } from '@millrace/core'
import type { Agent } from '@millrace/server'
import { type CompiledGraph, graphAgent } from '../../../packages/server/src/agent/langgraph/langgraph-agent.ts'

/** A saver of the author's own. What it has stored can be put back, as a database that outlives the server. */
class ShelfSaver extends BaseCheckpointSaver {
  readonly #shelf = new MemorySaver()

  copy(): Pick<MemorySaver, 'storage' | 'writes'> {
    return structuredClone({ storage: this.#shelf.storage, writes: this.#shelf.writes })
  }
  putBack(stored: Pick<MemorySaver, 'storage' | 'writes'>): void {
    Object.assign(this.#shelf, structuredClone(stored))
  }
  override getTuple(...args: Parameters<MemorySaver['getTuple']>): ReturnType<MemorySaver['getTuple']> {
    return this.#shelf.getTuple(...args)
  }
  override list(...args: Parameters<MemorySaver['list']>): ReturnType<MemorySaver['list']> {
    return this.#shelf.list(...args)
  }
  override put(...args: Parameters<MemorySaver['put']>): ReturnType<MemorySaver['put']> {
    return this.#shelf.put(...args)
  }
  override putWrites(...args: Parameters<MemorySaver['putWrites']>): ReturnType<MemorySaver['putWrites']> {
    return this.#shelf.putWrites(...args)
  }
  override deleteThread(thread: string): Promise<void> {
    return this.#shelf.deleteThread(thread)
  }
}

/** How far the saver of a run that is cut is: as the log was written, or as far as it came before the next row. */
export type Ahead = 'with the log' | 'ahead of the log'

/** The graph with a saver of the author's own, and what `cutEverywhere` needs so that the saver is as the crash left it. */
export function shelved(name: string, given: CompiledGraph, ahead: Ahead): Shelved {
  const saver = new ShelfSaver()
  const graph = Object.assign(Object.create(given), { checkpointer: saver }) as CompiledGraph
  /** What the saver had when a row was in the log, and before. */
  const states = new Map<number, Readonly<Record<Ahead, ReturnType<ShelfSaver['copy']>>>>()
  return {
    agent: graphAgent(name, async () => ({ graph, resumable: true })),
    watch(log) {
      const append: EventLog['append'] = async (...args) => {
        const before = saver.copy()
        const rows = await log.append(...args)
        for (const { seq } of rows) {
          states.set(seq - 1, { ...(states.get(seq - 1) ?? { 'with the log': before }), 'ahead of the log': before })
          states.set(seq, { 'with the log': saver.copy(), 'ahead of the log': saver.copy() })
        }
        return rows
      }
      return Object.assign(Object.create(log) as EventLog, { append })
    },
    edit(rows) {
      const state = states.get(rows.at(-1)?.seq ?? 0)
      if (state !== undefined) saver.putBack(state[ahead])
      return []
    },
  }
}

interface Shelved {
  readonly agent: Agent
  watch(log: EventLog): EventLog
  edit(rows: readonly Recorded[]): readonly []
}
