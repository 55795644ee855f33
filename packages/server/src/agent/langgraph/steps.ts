import { isObject } from '@millrace/core'
import type { StreamEvent } from './langgraph-agent.ts'

/** An event of the stream; the one that ends a step carries what the graph's channels hold then. */
export interface StepEvent extends StreamEvent {
  readonly values?: unknown
}

/** The stream mode that tells the state after each step. */
export const stepMode = 'checkpoints'

/**
 * LangGraph tells the state after a step beside its other events, and a moment late: the next nodes have started by
 * then. Here the event that ends a step waits for that state and carries it, and what came meanwhile follows it.
 */
export async function* inSteps(events: AsyncIterable<StreamEvent>): AsyncGenerator<StepEvent> {
  const order = new StepOrder()
  try {
    for await (const event of events) yield* order.push(event)
  } catch (error) {
    yield* order.release(undefined)
    throw error
  }
  yield* order.release(undefined)
}

class StepOrder {
  #root: string | undefined
  /** Tasks of the outermost graph that run now, by LangGraph's name for them, which stays when one is tried again. */
  readonly #open = new Map<unknown, number>()
  /** The end of a step, and what came after it. */
  #held: StreamEvent[] = []
  #step = 0

  /** Whether no other task of the step runs. */
  #isOver(step: number): boolean {
    return ![...this.#open.values()].includes(step)
  }

  *push(event: StreamEvent): Generator<StepEvent> {
    this.#root ??= event.run_id
    const told = event.run_id === this.#root ? stateIn(event) : undefined
    if (told !== undefined) {
      // Before the input is applied, there is nothing new.
      if (told.input) return
      if (this.#held.length === 0) yield { ...event, values: told.values }
      else if (told.step >= this.#step) yield* this.release(told.values)
      return
    }
    const step = stepOf(event)
    if (this.#held.length === 0) {
      yield* this.#pass(event, step)
      return
    }
    // Only the start of a later step is expected here. Another task of the same step means that it was not over.
    const early = step !== undefined && (event.event === 'on_chain_end' || step <= this.#step)
    if (early) yield* this.release(undefined)
    if (early) yield* this.push(event)
    else this.#held.push(event)
  }

  /** Lets the end of the step go, with the state after it where that is known, then all that came meanwhile. */
  *release(values: unknown): Generator<StepEvent> {
    const [end, ...rest] = this.#held
    this.#held = []
    if (end !== undefined) yield values === undefined ? end : { ...end, values }
    for (const event of rest) yield* this.push(event)
    if (values === undefined && this.#held.length > 0) yield* this.release(undefined)
  }

  *#pass(event: StreamEvent, step: number | undefined): Generator<StepEvent> {
    const task = event.metadata?.langgraph_checkpoint_ns
    if (step !== undefined && event.event === 'on_chain_start') this.#open.set(task, step)
    if (step !== undefined && event.event === 'on_chain_end') {
      this.#open.delete(task)
      if (this.#isOver(step)) {
        this.#held = [event]
        this.#step = step
        return
      }
    }
    yield event
  }
}

/** The step of a task of the outermost graph, for the event of its start or end. */
function stepOf({ event, tags = [], metadata }: StreamEvent): number | undefined {
  if (event !== 'on_chain_start' && event !== 'on_chain_end') return undefined
  const task = metadata?.langgraph_checkpoint_ns
  if (typeof task !== 'string' || task.includes('|')) return undefined
  // What runs inside of a task has its metadata, but not this tag.
  if (!tags.some((tag) => tag.startsWith('graph:step:'))) return undefined
  const step = Number(metadata?.langgraph_step)
  return Number.isInteger(step) ? step : undefined
}

interface Told {
  readonly step: number
  readonly input: boolean
  readonly values: unknown
}

function stateIn({ event, data }: StreamEvent): Told | undefined {
  const chunk = event === 'on_chain_stream' ? data?.chunk : undefined
  if (!Array.isArray(chunk) || chunk[0] !== stepMode || !isObject(chunk[1])) return undefined
  const { metadata, values } = chunk[1]
  const { step, source } = isObject(metadata) ? metadata : {}
  return { step: Number(step), input: source === 'input', values }
}
