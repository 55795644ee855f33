import {
  type AgentSaid,
  addUsage,
  isPartial,
  type NodeId,
  type Recorded,
  type RunEvent,
  type RunFinished,
  type Usage,
  usageOf,
} from '@millrace/core'
import { PrintedPartial } from '../agent/printed-partial.ts'

/** What a run has opened and not closed, and the tokens it has used: what its end must account for (SPEC 4.1). */
export class RunLedger {
  readonly #nodes = new Set<NodeId>()
  /** Messages with partials but, so far, no aggregate. */
  readonly #unfinished = new Set<string>()
  readonly #asked = new Set<string>()
  readonly #answered = new Set<string>()
  #usage: Usage | undefined
  /** How often the run was resumed after a crash. */
  resumes = 0
  ending: RunFinished | undefined

  static of(rows: Iterable<Recorded>, run: string): RunLedger {
    const ledger = new RunLedger()
    for (const row of rows) if (row.run === run) ledger.note(row.event)
    return ledger
  }

  note(event: RunEvent): void {
    switch (event.kind) {
      case 'node.started':
        this.#nodes.add(event.node)
        break
      case 'node.finished':
        this.#nodes.delete(event.node)
        break
      case 'agent':
        this.#noteMessage(event)
        break
      case 'interrupt':
        this.#asked.add(event.id)
        break
      case 'resumed':
        this.#asked.delete(event.interrupt)
        this.#answered.add(event.interrupt)
        break
      case 'superseded':
        this.resumes += 1
        for (const node of event.nodes) this.#nodes.delete(node)
        for (const message of event.messages) this.#unfinished.delete(message)
        break
      case 'run.finished':
        this.ending = event
        break
      default:
    }
  }

  /** The latest first: a node that was opened inside another is closed before it. */
  get openNodes(): readonly NodeId[] {
    return [...this.#nodes].reverse()
  }
  get unfinishedMessages(): readonly string[] {
    return [...this.#unfinished]
  }
  get openInterrupts(): readonly string[] {
    return [...this.#asked]
  }
  answered(interrupt: string): boolean {
    return this.#answered.has(interrupt)
  }
  get usage(): Usage | undefined {
    return this.#usage
  }

  #noteMessage(said: AgentSaid): void {
    const { message } = said
    // Streamed answers repeat their usage on every partial: only the aggregate counts.
    if (said instanceof PrintedPartial || isPartial(said.event)) {
      this.#unfinished.add(message)
      return
    }
    this.#unfinished.delete(message)
    const { usageMetadata: used } = said.event
    if (used === undefined) return
    this.#usage = addUsage(this.#usage ?? {}, { ...usageOf(used), modelCalls: 1 })
  }
}
