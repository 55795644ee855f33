import type { LlmRequest } from '@google/adk'
import { isObject, MillraceError } from '@millrace/core'
import type { RunContext } from '../agent.ts'
import { type ChangedPrompt, changedPrompt } from '../changed-prompt.ts'

/**
 * The request that a person gave one model call of a graph. A chat model of Millrace sends it, and so does one of LangChain
 * whose class is hooked. With any other model the run fails, so that it does not go on as if nothing had been changed.
 */
export class GraphPrompt {
  readonly #changed: ChangedPrompt | undefined
  #seen = 0
  /** The LangChain run of the call that gets it. */
  #run: string | undefined
  #sent = false

  constructor(context: RunContext) {
    this.#changed = changedPrompt(context)
  }

  /** A model call begins in this node. */
  begin(run: string, node: unknown): void {
    const { path = '', earlier = 0 } = this.#changed ?? {}
    if (this.#changed === undefined || node !== path.slice(path.lastIndexOf('/') + 1)) return
    if (this.#seen === earlier) this.#run = run
    this.#seen += 1
  }

  /** What this call sends in the place of its own words. */
  of(run: string | undefined): ChangedPrompt | undefined {
    return run !== undefined && run === this.#run ? this.#changed : undefined
  }

  /** Whether a call still has to send it. */
  get isOpen(): boolean {
    return this.#changed !== undefined && !this.#sent
  }

  /** The request that the call must send instead of its own. */
  take(run: string | undefined): ChangedPrompt | undefined {
    const changed = this.of(run)
    if (changed !== undefined) this.#sent = true
    return changed
  }

  /** Changes the request of the call. */
  apply(run: string | undefined, request: LlmRequest): void {
    const changed = this.take(run)
    if (changed === undefined) return
    if (changed.system !== undefined) request.config = { ...request.config, systemInstruction: changed.system }
    if (changed.contents !== undefined) request.contents = structuredClone(changed.contents) as never
  }

  /** The call has ended. */
  check(run: string): void {
    const changed = this.of(run)
    if (changed === undefined || this.#sent) return
    throw new MillraceError(
      'agent-error',
      `the model of ${changed.agent} is not a chat model of LangChain that Millrace knows, so its request cannot be changed; change the message or the state instead`,
    )
  }
}

/** The prompt of the run that this configuration of a graph belongs to. */
export function promptIn(given: unknown): GraphPrompt | undefined {
  return isObject(given) && given.prompt instanceof GraphPrompt ? given.prompt : undefined
}
