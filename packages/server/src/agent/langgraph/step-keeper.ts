import type { RunEvent } from '@millrace/core'
import type { RunContext } from '../agent.ts'
import { checkpointEvent, checkpointLeftOut, type LogProgress, type SeededSaver } from './checkpoint.ts'
import type { StreamEvent } from './langgraph-agent.ts'
import { isGated, NodeGate } from './node-gate.ts'
import { OwnSaver } from './own-saver.ts'

/**
 * Records the checkpoints of a run step by step, or waits for the author's saver to store them, and keeps the graph from
 * running ahead of them: a changed run goes on from the checkpoint of any step. The nodes of a resumable run also wait
 * until the log has what came before on disk.
 */
export class StepKeeper {
  readonly #saver: SeededSaver | OwnSaver
  readonly #context: RunContext
  readonly #isResumable: boolean
  readonly #gate = new NodeGate()
  /** The data of the last checkpoint, as text. */
  #recorded = ''

  constructor(saver: SeededSaver | OwnSaver, context: RunContext, isResumable: boolean) {
    this.#saver = saver
    this.#context = context
    this.#isResumable = isResumable
    context.signal.addEventListener('abort', () => this.close(), { once: true })
  }

  /** For LangGraph: each step is stored before the next one begins, and by its handlers a node waits for the gate. */
  get config(): object {
    return { durability: 'sync' }
  }

  get handlers(): readonly object[] {
    return [this.#gate.handler]
  }

  /**
   * The checkpoint, where it is another than the last one that was recorded. The graph may have done more than the log has
   * by now, but the checkpoint must not say so: what the log does not have would be neither shown nor done again.
   */
  *before(progress?: LogProgress): Generator<RunEvent> {
    if (this.#saver instanceof OwnSaver && progress === undefined) return
    const event = this.#event(this.#saver, progress)
    const text = JSON.stringify(event)
    if (text === this.#recorded) return
    this.#recorded = text
    yield event
  }

  #event(saver: SeededSaver | OwnSaver, progress: LogProgress = { open: [] }): RunEvent {
    return saver instanceof OwnSaver ? saver.progress.event(progress) : this.#checkpoint(saver, progress)
  }

  /** A state that is too large for the log ends a resumable run at once. Any other run may still trim it before it ends. */
  #checkpoint(saver: SeededSaver, progress: LogProgress): RunEvent {
    try {
      return checkpointEvent(saver, this.#context.session, progress)
    } catch (error) {
      if (this.#isResumable) throw error
      return { kind: 'log', level: 'debug', message: checkpointLeftOut }
    }
  }

  /** LangGraph stores what a node wrote right after it reports the node's end: then no other work is in between. */
  async stored(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    if (this.#saver instanceof OwnSaver) await this.#saver.stored()
  }

  /** The events of a start were taken: the node may run, in a resumable run once the log has them. */
  readonly started = async (event: StreamEvent): Promise<void> => {
    if (this.#isResumable && isGated(event.name, event.metadata)) await this.#context.recorded?.()
    this.#gate.open(event)
  }

  close(): void {
    this.#gate.shut()
  }
}
