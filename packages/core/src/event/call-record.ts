import type { Json, JsonObject } from '../json/json.ts'
import type { Problem } from './problem.ts'
import type { NodeId, Usage } from './run-event.ts'

/** An agent calls its model. The request is there where the server records prompts (SPEC 1.9). */
export interface ModelStarted {
  readonly kind: 'model.started'
  /** Names the call in its run. */
  readonly call: string
  readonly agent: string
  /** Absent where another server does not send it. */
  readonly model?: string
  /** How many tools the model was offered, where that is known. */
  readonly tools?: number
  /**
   * Set where another server called its model: milliseconds between the sign before this call (the request to that server,
   * a tool's answer, the end of another message) and its own first sign, with which the record begins. The wire does not
   * tell when in between the model was called, so the times of such a call count from the sign before it, as it arrived.
   */
  readonly waited?: number
  /** Temperature and the like, as they were sent. */
  readonly parameters?: JsonObject
  readonly request?: SentRequest
  readonly node?: NodeId
}

/**
 * A request as it was sent, without what the log already has (SPEC 1.10). A content that is a string is a reference:
 * `@` and the id of a message, whose content it is, or `#` and the hash of a value. Any other content is the content itself.
 */
export interface SentRequest {
  /** The earlier call of the session, `<run>/<call>`, whose first `keep` contents come before `contents`. */
  readonly like?: string
  readonly keep?: number
  readonly contents: readonly Json[]
  /** References to values. */
  readonly system?: string
  readonly tools?: string
  /** The values that no earlier request of the session has, by their hash. */
  readonly values?: JsonObject
  /** Why the request is not whole. */
  readonly omitted?: string
}

/** The model has answered, or will not. */
export interface ModelFinished {
  readonly kind: 'model.finished'
  readonly call: string
  readonly status: 'ok' | 'error'
  /** Milliseconds from the call to the first token and to the last one, as the agent's engine measured them. */
  readonly firstToken?: number
  readonly duration?: number
  readonly finishReason?: string
  /** The model, where only its answer named it. */
  readonly model?: string
  readonly usage?: Usage
  /** Where the price of the model is known. */
  readonly cost?: Cost
  /** The messages that hold the response. */
  readonly messages?: readonly string[]
  /** The response, where no message holds it. */
  readonly response?: Json
  readonly error?: Problem
  readonly node?: NodeId
}

export interface Cost {
  readonly amount: number
  readonly currency: string
}

/** A tool has run. It began `duration` before this event; the call and its answer are agent events. */
export interface ToolFinished {
  readonly kind: 'tool.finished'
  /** The id of the function call. */
  readonly call: string
  readonly name: string
  readonly status: 'ok' | 'error'
  readonly duration: number
  readonly node?: NodeId
}
