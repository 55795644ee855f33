import type { StreamEvent } from './langgraph-agent.ts'

/** The part of a LangChain callback handler that the gate needs. */
export interface GateHandler {
  readonly name: string
  /** LangChain waits for such a handler before it runs what starts. */
  readonly awaitHandlers: true
  handleChainStart(
    chain: unknown,
    inputs: unknown,
    run: string,
    parent?: string,
    tags?: readonly string[],
    metadata?: Readonly<Record<string, unknown>>,
    type?: string,
    name?: string,
  ): Promise<void>
}

/**
 * Keeps a graph from running ahead of the log. A graph does not wait for the reader of its events: without the gate it
 * may have carried out several steps that the log does not have when the process dies, and all of them would be repeated.
 * With it, the code of a node runs only after the log has the node's start and all that came before.
 */
export class NodeGate {
  readonly #opened = new Set<string>()
  readonly #waiting = new Map<string, () => void>()
  #isShut = false

  readonly handler: GateHandler = {
    name: 'millrace.gate',
    awaitHandlers: true,
    handleChainStart: async (_chain, _inputs, run, _parent, _tags, metadata, _type, name) => {
      if (!isGated(name, metadata) || this.#opened.delete(run)) return
      await new Promise<void>((resolve) => {
        if (!this.#isShut) this.#waiting.set(run, resolve)
      })
    },
  }

  /** The log has the start of this run of a node. */
  open({ run_id: run }: StreamEvent): void {
    if (this.#isShut) return
    const resolve = this.#waiting.get(run)
    this.#waiting.delete(run)
    if (resolve === undefined) this.#opened.add(run)
    else resolve()
  }

  /**
   * The run is over, and the log takes no more of it: a node that waits never runs, nor does one that starts later.
   * LangGraph does not wait for them; its own signal ends the stream.
   */
  shut(): void {
    this.#isShut = true
    this.#opened.clear()
    this.#waiting.clear()
  }
}

/** Whether what starts is a node. Other chains start inside a node that has passed the gate. */
export function isGated(name: string | undefined, metadata: Readonly<Record<string, unknown>> | undefined): boolean {
  return name !== undefined && metadata?.langgraph_node === name
}
