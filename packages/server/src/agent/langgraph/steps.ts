import { isObject } from '@millrace/core'
import type { StreamEvent } from './langgraph-agent.ts'

/** An event of the stream; the event that ends a step carries the channel values after it. */
export interface StepEvent extends StreamEvent {
  readonly values?: unknown
}

/** The stream mode that includes the state after each step. */
export const stepMode = 'checkpoints'

/**
 * LangGraph streams the state after a step between its other events, and a moment late: the next nodes have started by
 * then. Here the event that ends a step is held until that state arrives, and carries it. Events that came meanwhile
 * follow.
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
  /** Running tasks of the outermost graph, by LangGraph's name for them, which a retry keeps. */
  readonly #open = new Map<unknown, number>()
  /** The event that ends a step, and those that came after it. */
  #held: StreamEvent[] = []
  #step = 0

  /** Whether no other task of the step runs. */
  #isOver(step: number): boolean {
    return ![...this.#open.values()].includes(step)
  }

  *push(event: StreamEvent): Generator<StepEvent> {
    this.#root ??= event.run_id
    const state = event.run_id === this.#root ? stateIn(event) : undefined
    if (state !== undefined) {
      // Before the input is applied, there is nothing new.
      if (state.input) return
      if (this.#held.length === 0) yield { ...event, values: state.values }
      else if (state.step >= this.#step) yield* this.release(state.values)
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

  /** Yields the event that ends the step, with the state if it is known, then the events that came meanwhile. */
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
  // Events inside a task have its metadata, but not this tag.
  if (!tags.some((tag) => tag.startsWith('graph:step:'))) return undefined
  const step = Number(metadata?.langgraph_step)
  return Number.isInteger(step) ? step : undefined
}

interface StepState {
  readonly step: number
  readonly input: boolean
  readonly values: unknown
}

function stateIn({ event, data }: StreamEvent): StepState | undefined {
  const chunk = event === 'on_chain_stream' ? data?.chunk : undefined
  if (!Array.isArray(chunk) || chunk[0] !== stepMode || !isObject(chunk[1])) return undefined
  const { metadata, values } = chunk[1]
  const { step, source } = isObject(metadata) ? metadata : {}
  return { step: Number(step), input: source === 'input', values }
}
